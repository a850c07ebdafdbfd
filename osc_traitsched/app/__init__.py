"""The use cases: one function for each thing that can be asked of a cloud.

Each raises ``CloudBroke`` when a service that it needs can't be read.
"""
