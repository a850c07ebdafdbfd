"""Nova's weighers: in which order nova-scheduler tries the hosts that are left."""
