"""The words for plans of a wanted state, and for its files."""
