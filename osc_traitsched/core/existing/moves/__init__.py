"""Moves of servers that exist: which is due, and what refuses one at once."""
