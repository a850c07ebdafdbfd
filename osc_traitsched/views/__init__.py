"""From values to columns and prose; all wording lives here, and no I/O."""
