"""The rules of check, area by area."""
