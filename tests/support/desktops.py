"""Desktops for tests: skipped with a reason where their programs are missing."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hexathlon.tasks.task import Check, Task

SECONDS = 120.0
"""Deadline of each wait; a test never takes that long unless something is broken."""


def require_desktop() -> None:
    pytest.importorskip("jeepney", reason="needs the extra 'desktop'")
    pytest.importorskip("Xlib", reason="needs the extra 'desktop'")
    from hexathlon.envs.gui.desktop.installed import missing_packages
    from hexathlon.envs.sandbox.ladder import backend

    missing = missing_packages()
    if missing:
        pytest.skip(f"needs the packages {' '.join(missing)}")
    probe = backend("namespaces").probe()
    if not probe.available:
        pytest.skip(f"needs the sandbox 'namespaces': {probe.reason}")


def desktop_task(files: dict[str, Any], **world: Any) -> Task:
    """A task with these files and no requirements."""
    nothing = {"changed": {}, "deleted": [], "answer": None, "refusal": None}
    return Task(
        id="desktop/own/easy/dev/00000", family="gui", generator="desktop", version="1",
        level="easy", split="dev", seed=0, instruction="Do nothing.",
        params={"desktop": {"files": files, "look": "light", "open": [], **world}},
        checks=(Check(name="desktop_state", params=nothing),),
    )  # fmt: skip


def opened(files: dict[str, Any], **world: Any) -> Iterator[Any]:
    """A device on a desktop with these files; closed at the end."""
    require_desktop()
    from hexathlon.envs.gui.desktop.device import DesktopDevice

    device = DesktopDevice(seconds=SECONDS)
    try:
        device.open(desktop_task(files, **world), np.random.default_rng(0))
        yield device
    finally:
        device.close()


def number(device: Any, role: str, name: str) -> int:
    """The number of the first element with this role and name."""
    for element in device.elements():
        if element.role == role and element.name.strip() == name:
            return int(element.index)
    shown = [f"{element.role} {element.name}" for element in device.elements()]
    raise AssertionError(f"no {role} {name!r} among {shown}")


def names(device: Any, role: str) -> list[str]:
    return [element.name.strip() for element in device.elements() if element.role == role]


def until(device: Any, role: str, name: str) -> None:
    """Wait until the screen shows an element."""
    for _ in range(100):
        if name in names(device, role):
            return
        device.act("wait", {})
    raise AssertionError(f"no {role} {name!r} among {names(device, role)}")
