"""The rules of check, by area."""
