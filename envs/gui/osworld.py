"""OSWorld's getters: values read from a machine after an episode, as JSON for the check.

They read files and run the commands that a task file names, on the machine and never here. A
missing value is None; an unsupported getter is stored as such, and the episode stays unscored.
"""

import base64
import posixpath
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

__all__ = ["MachineOutput", "OsworldMachine", "read_results"]

_LARGEST_FILE = 16 << 20
_VIDEO_KINDS = (
    "3gpp", "avi", "divx", "dv", "flv", "mp4", "mpeg", "ogg", "quicktime", "webm", "x-matroska",
    "x-msvideo",
)  # fmt: skip

Getter = Mapping[str, Any]


class MachineOutput(NamedTuple):
    """Output of a command."""

    output: str
    error: str


class OsworldMachine(Protocol):
    """The machine after the agent's last action and the task's `postconfig`."""

    home: str
    """Absolute path of the user's home."""

    screen: tuple[int, int]
    """Width and height in pixels."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content; None if there is no such file."""
        ...

    def cached(self, name: str) -> bytes | None:
        """Return what a setup step with `stdout` wrote under this name; None if none did."""
        ...

    def run(self, command: str | list[str], shell: bool) -> MachineOutput:
        """Run a command as the user, with a deadline."""
        ...

    def names(self, path: str) -> list[tuple[str, bool]] | None:
        """Return a folder's names and whether each is a folder; None if there is no such folder."""
        ...

    def terminal_text(self) -> str | None:
        """Return the text of the focused terminal; None if there is none."""
        ...


def read_results(world: Mapping[str, Any], machine: OsworldMachine) -> dict[str, Any]:
    """Return the stored values of all getters of a task.

    Args:
        world: `result` and `expected` of the task's `params["osworld"]`.
        machine: The machine to read from.

    Returns:
        `result` and `expected`, one value per metric: `{"text": …}`, `{"json": …}`,
        `{"file": base64}`, `{"files": […]}`, `{"unsupported": reason}` or None.
    """
    return {
        side: [None if getter is None else _read(getter, machine) for getter in world[side]]
        for side in ("result", "expected")
    }


def _read(getter: Getter, machine: OsworldMachine) -> dict[str, Any] | None:
    reader = _READERS.get(getter["type"])
    if reader is None:
        return {"unsupported": f"the getter {getter['type']}"}
    return reader(getter, machine)


def _file(path: str, machine: OsworldMachine) -> dict[str, Any] | None:
    content = machine.read(path)
    return None if content is None else _stored(content)


def _stored(content: bytes) -> dict[str, Any]:
    if len(content) > _LARGEST_FILE:
        return {"unsupported": f"a file of {len(content):,} bytes, more than {_LARGEST_FILE:,}"}
    return {"file": base64.b64encode(content).decode("ascii")}


def _vm_file(getter: Getter, machine: OsworldMachine) -> dict[str, Any] | None:
    if not getter.get("multi", False):
        return _file(getter["path"], machine)
    given = [getter["path"][place] for place in getter.get("gives", [0])]
    read = [_file(path, machine) for path in given]
    unsupported = [each for each in read if each and "unsupported" in each]
    if unsupported:
        return unsupported[0]
    if len(read) == 1:
        return read[0]
    return {"files": [None if each is None else each["file"] for each in read]}


def _cached(getter: Getter, machine: OsworldMachine) -> dict[str, Any] | None:
    content = machine.cached(getter["path"])
    return None if content is None else _stored(content)


def _rule(getter: Getter, machine: OsworldMachine) -> dict[str, Any]:
    return {"json": getter["rules"]}


def _output(getter: Getter, machine: OsworldMachine) -> dict[str, Any]:
    return {"text": machine.run(getter["command"], bool(getter.get("shell", False))).output}


def _error(getter: Getter, machine: OsworldMachine) -> dict[str, Any]:
    return {"text": machine.run(getter["command"], bool(getter.get("shell", False))).error}


def _terminal(getter: Getter, machine: OsworldMachine) -> dict[str, Any] | None:
    text = machine.terminal_text()
    return None if text is None else {"text": text}


def _screen(getter: Getter, machine: OsworldMachine) -> dict[str, Any]:
    width, height = machine.screen
    return {"json": {"width": width, "height": height}}


def _gimp(getter: Getter, machine: OsworldMachine) -> dict[str, Any] | None:
    folder = posixpath.join(machine.home, ".config/GIMP/2.10")
    return _file(posixpath.join(folder, getter["file_name"]), machine)


def _vlc(getter: Getter, machine: OsworldMachine) -> dict[str, Any] | None:
    return _file(posixpath.join(machine.home, ".config/vlc/vlcrc"), machine)


def _player(getter: Getter, machine: OsworldMachine) -> dict[str, Any]:
    """Return the application that opens most video formats."""
    answers = (
        machine.run(["xdg-mime", "query", "default", f"video/{kind}"], False).output
        for kind in _VIDEO_KINDS
    )
    common = Counter(filter(None, answers)).most_common(1)
    return {"text": common[0][0] if common else "unknown"}


def _tree(getter: Getter, machine: OsworldMachine) -> dict[str, Any] | None:
    tree = _folder(getter["path"], machine, depth=0)
    return None if tree is None else {"json": tree}


_DEEPEST = 8


def _folder(path: str, machine: OsworldMachine, depth: int) -> dict[str, Any] | None:
    names = machine.names(path) if depth < _DEEPEST else None
    if names is None:
        return None
    children = []
    for name, is_folder in names:
        inner = _folder(posixpath.join(path, name), machine, depth + 1) if is_folder else None
        children.append(inner or {"type": "file", "name": name})
    return {"type": "directory", "name": posixpath.basename(path), "children": children}


_READERS: Mapping[str, Callable[[Getter, OsworldMachine], dict[str, Any] | None]] = {
    "cache_file": _cached,
    "default_video_player": _player,
    "gimp_config_file": _gimp,
    "list_directory": _tree,
    "rule": _rule,
    "vlc_config": _vlc,
    "vm_command_error": _error,
    "vm_command_line": _output,
    "vm_file": _vm_file,
    "vm_screen_size": _screen,
    "vm_terminal_output": _terminal,
}
