"""Existing servers: their failures, and their possible destinations."""
