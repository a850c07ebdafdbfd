"""The words for what a cloud shall be like: plans of it, refusals, and files."""

# It registers the words of its errors.
from osc_traitsched.views.wanted import refusals  # noqa: F401
