"""What the lines of files mean, and what they can't want together."""
