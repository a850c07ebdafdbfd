"""Files that say what a cloud must be like."""
