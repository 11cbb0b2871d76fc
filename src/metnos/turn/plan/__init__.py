"""Planning: from a request to steps, without a language model (router) or with one."""
