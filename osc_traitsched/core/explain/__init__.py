"""Why hosts are rejected, and what would help."""
