"""What waits for what: a write that fails stops only what depends on it."""
