"""How many more servers fit: as text, as a document, and as metrics."""
