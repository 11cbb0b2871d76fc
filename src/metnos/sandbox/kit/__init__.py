"""What several executors need, as a library inside the sandbox: ``from metnos_kit import texts``.

Rules: standard library and the sandbox's libraries alone, nothing else of Metnos, and no module of the kit imports
another; it runs inside the walls, with the rights of the executor that imports it and no more. An executor names it in
``libraries`` like any other.
"""
