"""A plan that empties a host, in words, in commands and as a document."""
