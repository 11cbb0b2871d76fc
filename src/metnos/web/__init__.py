"""The web page: server-rendered, a client of the HTTP API like any other.

`site.build` makes an ASGI application of the API's. Whatever a page shows it asks the API for (`inside`), and whatever
it changes its small scripts ask the API for; nothing here touches the workspace.
"""
