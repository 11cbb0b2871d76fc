"""Synt: from a need to an executor that the owner may approve."""
