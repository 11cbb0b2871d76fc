"""One module for each page, or for a few that belong together."""
