"""The only room that talks to the cloud; ``CloudBroke`` if that fails."""
