"""A local server for a built site, below any path, as plain page hosting does it."""

from __future__ import annotations

import functools
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = ["BoardServer", "site_server"]


class BoardServer(ThreadingHTTPServer):
    """Serves the files of a site below ``base``."""

    base = "/"


def site_server(site: Path, port: int, base: str = "/") -> BoardServer:
    """Return a server for a site on 127.0.0.1; use it as a context manager.

    Args:
        site: The built site.
        port: 0 for any free port.
        base: Path of the first page's folder.
    """
    handler = functools.partial(_Handler, directory=str(site))
    server = BoardServer(("127.0.0.1", port), handler)
    server.base = f"/{base.strip('/')}/".replace("//", "/")
    return server


class _Handler(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        base = getattr(self.server, "base", "/")
        if not path.startswith(base):
            return str(Path(self.directory) / "missing")
        return super().translate_path("/" + path.removeprefix(base))

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def log_message(self, *_: Any) -> None:
        pass
