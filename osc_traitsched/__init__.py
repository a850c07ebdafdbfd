"""An OpenStackClient plugin that says and decides where servers may run."""
