"""A cloud that is saved in a file, and answers like the live one."""
