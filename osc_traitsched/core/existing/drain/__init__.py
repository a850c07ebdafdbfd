"""Where the servers of a host could go, all of them together."""
