"""Telegram: a bot of the owner's own that takes requests from paired senders and asks them before anything serious."""
