"""Existing servers: why one failed, where one could go, which are misplaced."""
