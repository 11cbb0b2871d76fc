"""Fast paths: what a request is, apart from its particulars, and what those particulars are."""
