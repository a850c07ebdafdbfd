"""Nova's weighers, which order the hosts that pass the filters."""
