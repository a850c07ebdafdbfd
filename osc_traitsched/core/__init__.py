"""What is true of traits, hosts and requests: pure Python, no I/O."""
