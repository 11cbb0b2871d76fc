"""Styx, the hub: a separate distribution that may import nothing of Metnos but ``metnos.core``."""
