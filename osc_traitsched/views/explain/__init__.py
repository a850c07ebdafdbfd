"""An explanation for a person and for a program."""
