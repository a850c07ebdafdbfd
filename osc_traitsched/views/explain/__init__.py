"""An explanation for a person and for a program, from one value."""
