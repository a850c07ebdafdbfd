"""What Nova makes of a request, release by release, option by option."""
