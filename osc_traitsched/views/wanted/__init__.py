"""Plans of a wanted state, and its files, in words."""
