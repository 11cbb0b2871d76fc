"""A turn: from a request to an answer, one direction only."""
