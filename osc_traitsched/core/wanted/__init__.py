"""The wanted state of a cloud: what files say of it, and the plan that makes it so."""
