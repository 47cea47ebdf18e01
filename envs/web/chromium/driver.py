"""One Playwright driver and one Chromium per process, on a loop in a background thread.

Callers are synchronous: `call` runs a coroutine on the loop. Every wait has a deadline and a name;
failures below the level of pages raise `EnvFault`.
"""

import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import shutil
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from hexathlon.envs.errors import BackendMissing, DeadlineExceeded, EnvFault
from hexathlon.envs.web.chromium.server import SECRET_HEADER, SiteServer
from hexathlon.tasks.web.world.sites.table import DOMAIN

__all__ = ["BrowserCrashed", "Driver", "PageChanged", "chromium_path", "together", "within"]

Result = TypeVar("Result")

CHROMIUM_SETTING = "HEXATHLON_CHROMIUM"
PROGRAMS = ("chromium-headless-shell", "chromium")
_START_SECONDS = 60.0
_CALL_SECONDS = 120.0
_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--font-render-hinting=none",
)


class BrowserCrashed(EnvFault):
    """Chromium or its driver ended or stopped answering."""

    cause = "browser_crashed"


class PageChanged(Exception):
    """The page changed while it was read, so it must be read again; not a failure."""


def chromium_path(setting: str | None = None) -> str:
    """Return the path of Chromium.

    Args:
        setting: A path or program name; by default the environment variable HEXATHLON_CHROMIUM,
            then chromium-headless-shell, then chromium.

    Raises:
        BackendMissing: If there is none.
    """
    wanted = setting or os.environ.get(CHROMIUM_SETTING, "")
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise BackendMissing(f"there is no program {wanted!r}, the configured Chromium")
        return found
    for program in PROGRAMS:
        found = shutil.which(program)
        if found is not None:
            return found
    raise BackendMissing(
        "there is no Chromium; install the package chromium-headless-shell or chromium, or set "
        f"{CHROMIUM_SETTING} to its path"
    )


async def within(seconds: float, what: str, coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Await a step of the browser.

    Raises:
        DeadlineExceeded: If it takes longer.
        EnvFault: If the browser fails below the page.
    """
    try:
        return await asyncio.wait_for(coroutine, seconds)
    except TimeoutError:
        raise DeadlineExceeded(f"chromium: {what} took longer than {seconds:.0f} s") from None
    except (EnvFault, PageChanged):
        raise
    except Exception as error:
        raise BrowserCrashed(f"chromium: {what} failed: {error}") from error


async def together(*coroutines: Coroutine[Any, Any, Any]) -> None:
    """Await several steps concurrently."""
    await asyncio.gather(*coroutines)


class Driver:
    """Playwright and its Chromium; use `Driver.shared()`.

    Args:
        program: Path of Chromium.
    """

    _all: dict[tuple[int, str], "Driver"] = {}
    _lock = threading.Lock()

    def __init__(self, program: str) -> None:
        try:
            import playwright.async_api  # noqa: F401
        except ImportError:
            raise BackendMissing(
                "the browser needs Playwright: pip install 'hexathlon[web]'"
            ) from None
        self.program = program
        self.server = SiteServer.shared()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="hexathlon-chromium", daemon=True
        )
        self._thread.start()
        self._playwright: Any = None
        self._browser: Any = None
        self._starting: asyncio.Lock | None = None
        self._closing: set[asyncio.Task[None]] = set()
        atexit.register(self.close)

    @classmethod
    def shared(cls, setting: str | None = None) -> "Driver":
        """Return the process's driver for a Chromium; start it on first use.

        Raises:
            BackendMissing: If Playwright or Chromium is not installed.
        """
        key = (os.getpid(), chromium_path(setting))
        with cls._lock:
            if key not in cls._all:
                cls._all[key] = cls(key[1])
            return cls._all[key]

    def call(
        self, coroutine: Coroutine[Any, Any, Result], seconds: float = _CALL_SECONDS
    ) -> Result:
        """Run a coroutine on the loop and wait for its result.

        Raises:
            DeadlineExceeded: If it takes too long.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(seconds)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise DeadlineExceeded(
                f"chromium: an action took longer than {seconds:.0f} s"
            ) from None
        except BaseException:
            future.cancel()
            raise

    async def new_context(self, secret: str, **options: Any) -> Any:
        """Open a browser context of one episode."""
        browser = await self._running()
        return await within(
            _START_SECONDS,
            "opening a context",
            browser.new_context(
                extra_http_headers={SECRET_HEADER: secret},
                service_workers="block",
                accept_downloads=False,
                locale="en-US",
                timezone_id="UTC",
                **options,
            ),
        )

    def abandon(self, context: Any) -> None:
        """Close a context whose owner is gone, without waiting."""
        with contextlib.suppress(RuntimeError):  # the loop is closed, and Chromium with it
            self._loop.call_soon_threadsafe(self._begin_closing, context)

    async def abandoned(self) -> None:
        """Wait until the contexts of `abandon` are closed."""
        await asyncio.gather(*self._closing)

    def _begin_closing(self, context: Any) -> None:
        task = self._loop.create_task(_closed(context))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def resolver_rules(self) -> str:
        """Return Chromium's rules for host names: the event's sites, and nothing else."""
        return f"MAP *.{DOMAIN} 127.0.0.1:{self.server.port}, MAP * ~NOTFOUND"

    @property
    def contexts(self) -> int:
        """Number of open contexts."""
        return 0 if self._browser is None else len(self._browser.contexts)

    def close(self) -> None:
        """Close Chromium, the driver and its loop."""
        with self._lock:
            Driver._all = {key: each for key, each in Driver._all.items() if each is not self}
        atexit.unregister(self.close)
        if self._loop.is_closed() or not self._thread.is_alive():
            return
        with contextlib.suppress(Exception):
            self.call(self._shut(), 10.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        if not self._thread.is_alive():
            self._loop.close()

    async def _running(self) -> Any:
        if self._starting is None:
            self._starting = asyncio.Lock()
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await within(_START_SECONDS, "starting Chromium", self._start())
            return self._browser

    async def _start(self) -> Any:
        from playwright.async_api import async_playwright

        if self._playwright is None:
            self._playwright = await async_playwright().start()
        rules = self.resolver_rules()
        return await self._playwright.chromium.launch(
            executable_path=self.program,
            chromium_sandbox=os.geteuid() != 0,
            args=[*_FLAGS, f"--host-resolver-rules={rules}"],
            env={
                name: os.environ[name]
                for name in ("PATH", "HOME", "LANG", "TMPDIR")
                if name in os.environ
            },
        )

    async def _shut(self) -> None:
        for task in self._closing:
            task.cancel()
        if self._browser is not None:
            await asyncio.wait_for(self._browser.close(), 5.0)
        if self._playwright is not None:
            await asyncio.wait_for(self._playwright.stop(), 5.0)


async def _closed(context: Any) -> None:
    """Close a context, unless it or its Chromium is gone already."""
    with contextlib.suppress(Exception):
        await asyncio.wait_for(context.close(), _CALL_SECONDS)
