"""What is to be written, and what becomes of it."""
