"""Use cases: one function for each question or change.

Each raises ``CloudBroke`` if a service that it needs can't be read.
"""
