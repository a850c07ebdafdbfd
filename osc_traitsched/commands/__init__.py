"""The commands: parse, read, judge, show or write."""
