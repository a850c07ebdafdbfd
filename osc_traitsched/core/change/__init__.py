"""Writes, their order, and their effects."""
