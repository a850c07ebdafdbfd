"""Which hosts projects may use, on the way and in the end."""
