"""Settings: nova.conf, TripleO, RHOSO -> assumptions; from files, without services."""
