"""Nova's host filters: what nova-scheduler makes of the hosts that Placement gave."""
