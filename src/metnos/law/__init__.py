"""The Laws: constitution, hard-forbidden paths, audit, and what a workspace needs before anything may act in it."""
