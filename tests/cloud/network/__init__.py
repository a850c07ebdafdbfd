"""A whole cloud on loopback for the tests: released services, no root, no broker."""
