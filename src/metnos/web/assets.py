"""The files that a browser loads besides the pages: style, scripts, the icon.

Rules: all of them are read once, from one folder, and served by exact name: there is no path to walk out on. Their
addresses carry a digest of all of them together, so that a browser keeps them for good and never mixes two versions
(a script imports its neighbours by relative address). Under another digest, or none, they are served as they are now,
not to be kept. What has to be there before anything is painted, the style and the theme, stands in the page itself:
fetching it takes longer than all the rest of a page; the policy names each of these files by its digest.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.core.content_policy import policy

FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
_FOR_GOOD = "public, max-age=31536000, immutable"
_DIGITS = 12
WITHIN = ("theme.js",)  # scripts that stand in a page


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is sent."""

    body: bytes
    kind: str
    tag: str


class Assets:
    """All files of a folder."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {path.relative_to(folder).as_posix(): _read(path) for path in sorted(folder.rglob("*"))
                       if path.suffix in _KINDS and path.is_file()}  # fmt: skip
        whole = hashlib.sha256()
        for name, asset in self._files.items():
            whole.update(f"{name}\0{asset.tag}\0".encode())
        self.digest = whole.hexdigest()[:_DIGITS]
        self.policy = policy(
            [self._files[name].body for name in WITHIN if name in self._files],
            [asset.body for name, asset in self._files.items() if name.endswith(".css")],
        )

    def within(self, name: str) -> Markup:
        """The file ``name`` as it stands in a page: one that the policy allows there."""
        if name not in WITHIN and not name.endswith(".css"):
            raise KeyError(name)
        body = self._files[name].body
        if b"</" in body or b"<!--" in body:  # it would end the element that it stands in
            raise ValueError(f"{name} cannot stand in a page")
        return Markup(body.decode())  # noqa: S704 -- a file of ours

    def address(self, name: str) -> str:
        """Where a page finds the file ``name``; a name that is not there is a mistake of the page's."""
        if name not in self._files:
            raise KeyError(name)
        return f"/static/{self.digest}/{name}"

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/static/{digest:str}/{name:path}", self._serve, methods=["GET"]),
            Route("/static/{name:path}", self._serve, methods=["GET"]),
            Route("/favicon.ico", self._icon, methods=["GET"]),
        ]

    async def _serve(self, request: Request) -> Response:
        asked, name = request.path_params.get("digest", ""), request.path_params["name"]
        asset = self._files.get(name) or self._files.get(f"{asked}/{name}")
        return self._respond(request, asset, for_good=asked == self.digest)

    async def _icon(self, request: Request) -> Response:
        return self._respond(request, self._files.get("favicon.svg"), for_good=False)

    def _respond(self, request: Request, asset: Asset | None, *, for_good: bool) -> Response:
        if asset is None:
            raise HTTPException(404)
        headers = {
            "Cache-Control": _FOR_GOOD if for_good else "no-cache",
            "ETag": asset.tag,
            "X-Content-Type-Options": "nosniff",
        }
        if request.headers.get("if-none-match") == asset.tag:
            return Response(status_code=304, headers=headers)
        return Response(asset.body, media_type=asset.kind, headers=headers)


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(body, _KINDS[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:32]}"')
