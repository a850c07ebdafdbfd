"""The verbs: parse, read, think, show or write."""
