"""Code that runs inside the sandbox.

Rules: standard library alone, nothing else of Metnos; it is sent in as compiled code and never lies on the sandbox's
disk. Everything here up to the call of the executor is ours and trusted; whatever the executor's code can reach in
its own process afterwards is worth nothing to the outside. It imports as little as it can, because a cold sandbox pays
for every module: no `typing`, `json`, `dataclasses` or `traceback` here.
"""
