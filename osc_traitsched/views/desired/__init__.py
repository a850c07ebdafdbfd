"""Plans of a desired state, and its files, in words."""
