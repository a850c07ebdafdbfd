"""The words for a server that exists: why it failed, and whether it would now."""
