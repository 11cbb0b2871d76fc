"""Language models: for now, whether the configured one can be reached."""
