"""The configuration room: files that say what a cloud must be like."""
