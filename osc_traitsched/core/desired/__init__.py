"""The desired state of a cloud: files, and the plan that reaches it."""
