"""The configuration room: files that say what a cloud shall be like."""
