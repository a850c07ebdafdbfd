"""A plan that empties hosts, in words, in commands and as a document."""
