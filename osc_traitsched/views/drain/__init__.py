"""The words for a plan that empties a host, and the commands that carry it out."""
