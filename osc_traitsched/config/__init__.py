"""Settings: nova.conf, TripleO, RHOSO -> assumptions.

It reads files and knows their formats; it asks no service, and words nothing
but the reason why a file can't be what it says.
"""
