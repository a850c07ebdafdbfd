"""The use cases: one function for each thing that can be asked of a cloud."""
