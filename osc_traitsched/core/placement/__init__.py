"""What Placement makes of it: which hosts meet which clauses together."""
