"""Servers that exist: what Nova shows of their requests, and of why they failed."""
