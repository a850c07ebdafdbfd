"""Runs filters and weighers in another Python, one that has Nova in it."""
