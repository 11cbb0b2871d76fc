"""The HTTP face: the API that the web page and programs use, and what guards both."""
