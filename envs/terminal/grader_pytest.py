"""The grader's pytest: the harness's installation, copied read-only into the sandbox.

Sandboxes have no network, and their base may lack pytest, so the installed distributions are
copied unchanged. A plug-in of this package reports outcomes and accepts the options of absent
plug-ins that do not affect outcomes.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox.image import Entry

__all__ = ["PLUGINS", "PLUGIN_LIST", "pytest_files"]

_NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
PLUGINS = {
    "pytest-asyncio": "pytest_asyncio.plugin",
    "pytest-mock": "pytest_mock",
    "pytest-timeout": "pytest_timeout",
}
"""Plug-ins that tests use: distribution → module."""

PLUGIN_LIST = "plugins.txt"
"""File with the names of the modules, as in `PYTEST_PLUGINS`."""

_REPORTER = Path(__file__).with_name("outcomes_plugin.py")
"""The plug-in of this package, which is read and not imported: pytest may be missing here."""

_UNUSED = re.compile(
    r"pygments/(?:lexers|formatters|styles)/"
    r"(?!__init__|_mapping|python|diff|terminal\.|default|_utils)"
)


@cache
def pytest_files(folder: str) -> Mapping[str, Entry]:
    """Return pytest, its plug-ins and a plug-in that reports outcomes, as read-only files.

    Args:
        folder: Their directory in the sandbox, on the tests' `PYTHONPATH`.

    Raises:
        BackendMissing: If pytest is not installed with the harness.
    """
    files = {}
    for name in _NEEDED:
        found = dict(_sources(name))
        if not found:
            raise BackendMissing(
                f"the tests need pytest, and {name} is not installed here: pip install pytest",
                cause="task_needs",
            )
        files.update(found)
    modules = []
    for name, module in PLUGINS.items():
        found = dict(_sources(name))
        files.update(found)
        modules += [module] if found else []
    modules.append(_REPORTER.stem)  # last: it adds missing options
    files[_REPORTER.name] = _REPORTER.read_bytes()
    files[PLUGIN_LIST] = ",".join(modules).encode()
    return {f"{folder}/{path}": Entry(data, 0o444) for path, data in files.items()}


def _sources(name: str) -> Iterator[tuple[str, bytes]]:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    for file in found.files or ():
        path = str(file)
        if path.startswith("..") or not path.endswith((".py", "entry_points.txt", "METADATA")):
            continue
        if _UNUSED.match(path) is None:
            yield path, file.read_binary()
