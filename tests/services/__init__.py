"""Released OpenStack services in an environment of their own, for the tests."""
