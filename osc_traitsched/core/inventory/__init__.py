"""Providers, traits, hosts and aggregates of a cloud."""
