"""The mnestome: which output fed which executor, and what was wished for."""
