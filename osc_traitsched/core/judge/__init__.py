"""Why hosts are rejected, and fixes."""
