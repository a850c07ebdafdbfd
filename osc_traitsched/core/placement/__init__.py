"""Placement's side: the hosts that meet the clauses of a request."""
