"""Use cases; each raises ``CloudBroke`` if a service that it needs can't be read."""
