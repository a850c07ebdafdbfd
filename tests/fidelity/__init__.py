"""Nova's own code as the judge of what the core says that Nova asks."""
