"""Servers that exist: why they failed, and where they could go."""
