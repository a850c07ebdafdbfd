"""Isolating an aggregate by traits, and the way back: plans."""
