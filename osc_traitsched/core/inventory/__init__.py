"""What there is: providers, traits, hosts, aggregates, and how to select them."""
