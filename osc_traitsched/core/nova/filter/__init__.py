"""Nova's host filters, which run on Placement's hosts."""
