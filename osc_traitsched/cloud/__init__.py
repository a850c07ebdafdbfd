"""The only room that talks to the cloud."""
