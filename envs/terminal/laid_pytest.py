"""The pytest that the grader lays into its sandbox: the harness's own, read-only, with plug-ins.

There is no network in a sandbox, and the base need not have pytest. The files of the installed
distributions are copied as they are; a plug-in of our own reports outcomes, and accepts the options
of plug-ins that are not installed here and whose absence changes no outcome.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.terminal import outcomes_plugin

__all__ = ["PLUGINS", "PLUGIN_LIST", "pytest_files"]

_NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
PLUGINS = {
    "pytest-asyncio": "pytest_asyncio.plugin",
    "pytest-mock": "pytest_mock",
    "pytest-timeout": "pytest_timeout",
}
"""Plug-ins that tests name: distribution to module."""

PLUGIN_LIST = "plugins.txt"
"""File with the names of the modules, as in `PYTEST_PLUGINS`."""

_UNUSED = re.compile(
    r"pygments/(?:lexers|formatters|styles)/"
    r"(?!__init__|_mapping|python|diff|terminal\.|default|_utils)"
)


@cache
def pytest_files(folder: str) -> Mapping[str, Entry]:
    """Return pytest, its plug-ins and a plug-in that reports outcomes, as read-only files.

    Args:
        folder: Where they are laid, on the tests' `PYTHONPATH`.

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
    modules.append(outcomes_plugin.__name__.rpartition(".")[2])  # last: it adds missing options
    files[f"{modules[-1]}.py"] = inspect.getsource(outcomes_plugin).encode()
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
