"""What host filters and weighers say of hosts, against those of Nova's releases."""
