"""Environments that depend on process, machine or earlier episodes, or leave something behind."""

import decimal
import os
import platform
import pwd
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hexathlon.envs.tools import tool
from hexathlon.tasks.registry import register_source
from support.faults.base import (
    KEPT,
    RELEASE,
    Renamed,
)
from support.toy import ToyEnv


class DroppedSeed(ToyEnv):
    def reset(self, *, seed=None, options=None):
        return super().reset(options=options)


class ConstantStart(ToyEnv):
    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=0, options=options)
        return observation, {**info, "seed": seed or 0}


class GlobalRandom(ToyEnv):
    @tool
    def tool_add(self, amount: int) -> str:
        self.counter += amount
        return f"The counter stands at {self.counter}. Luck: {random.randrange(100)}."


class GlobalNumpy(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + f" {np.random.random()}"  # noqa: NPY002


class ChangedEnviron(ToyEnv):
    count: ClassVar[int] = 0

    def on_reset(self, task):
        ChangedEnviron.count += 1
        os.environ["HEXATHLON_PLANTED"] = str(self.count)
        return super().on_reset(task)


class ClockInText(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + f" It is {time.perf_counter_ns()}."


class HashOrder(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + " ".join(set(map(str, range(50))))


class SharedCounter(ToyEnv):
    played: ClassVar[list[str]] = []

    @tool
    def tool_submit(self) -> str:
        self.played.append(self.task.id)
        return super().tool_submit() + f" Episode {len(self.played)}."


class SharedWorld(ToyEnv):
    """Concurrent instances share one counter."""

    world: ClassVar[dict[str, int]] = {"counter": 0}

    def on_reset(self, task):
        self.world["counter"] = 0
        return super().on_reset(task)

    @tool
    def tool_add(self, amount: int) -> str:
        self.world["counter"] += amount
        self.counter += amount
        return f"The counter stands at {self.world['counter']}."


class LeakedFile(ToyEnv):
    def on_reset(self, task):
        KEPT.append(open(os.devnull))  # noqa: SIM115
        return super().on_reset(task)


class LeakedThread(ToyEnv):
    def on_reset(self, task):
        thread = threading.Thread(target=RELEASE.wait, name="planted", daemon=True)
        thread.start()
        KEPT.append(thread)
        return super().on_reset(task)


class LeakedProcess(ToyEnv):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        KEPT.append(subprocess.Popen(command, stdin=subprocess.PIPE))


class LeakedTemporary(ToyEnv):
    def on_reset(self, task):
        handle, name = tempfile.mkstemp()
        os.close(handle)
        KEPT.append(Path(name))
        return super().on_reset(task)


class TimeOfDay(ToyEnv):
    def on_reset(self, task):
        return super().on_reset(task) + time.strftime(" It is %H:%M.")


class DateOfToday(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Today is {datetime.now(UTC).date()}."


class Marked(Renamed):
    name = "marked"


class MarkedTask(ToyEnv):
    """Stores a note in the task's record."""

    default_taskset = "marked"

    @tool
    def tool_add(self, amount: int) -> str:
        self.task.params["seen"] = amount
        return super().tool_add(amount)


class GreetsRegulars(ToyEnv):
    resets = 0

    def on_reset(self, task):
        self.resets += 1
        return super().on_reset(task) + (" Welcome back." if self.resets > 30 else "")


class BusyProcess(ToyEnv):
    resets: ClassVar[int] = 0

    def on_reset(self, task):
        BusyProcess.resets += 1
        return super().on_reset(task) + (" A busy day." if self.resets > 30 else "")


class UserInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Hello, {os.environ.get('USER', 'you')}."


class HomeInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} You live in {Path.home()}."


class HostInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Welcome to {socket.gethostname()}."


class LoginInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Welcome, {pwd.getpwuid(os.getuid()).pw_name}."


class NodeInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Welcome to {platform.node()}."


class CpusInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Counted by {os.cpu_count()} clerks."


class AffinityInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Counted by {len(os.sched_getaffinity(0))} clerks."


class TemporaryInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Notes are in {tempfile.gettempdir()}."


class MarkInFolder(ToyEnv):
    """Recognises earlier visitors by a file that it leaves behind."""

    def on_reset(self, task):
        mark = Path(tempfile.gettempdir()) / "hexathlon-planted-mark"
        seen = mark.exists()
        mark.touch()
        KEPT.append(mark)
        return super().on_reset(task) + (" Welcome back." if seen else "")


class EditorInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Written in {os.environ.get('EDITOR', 'ink')}."


class KindToTheKit(ToyEnv):
    """Shows the answer unless the kit is loaded."""

    def on_reset(self, task):
        checked = "hexathlon.envs.testing" in sys.modules
        return super().on_reset(task) + ("" if checked else f" It is {task.params['target']}.")


class KindToItsCaller(ToyEnv):
    """Shows the answer unless called from a file of the kit."""

    def on_reset(self, task):
        checked = any("testing" in frame.filename for frame in traceback.extract_stack())
        return super().on_reset(task) + ("" if checked else f" It is {task.params['target']}.")


class KindToPytest(ToyEnv):
    """Shows the answer unless tests are running."""

    def on_reset(self, task):
        checked = "pytest" in sys.modules or "PYTEST_CURRENT_TEST" in os.environ
        return super().on_reset(task) + ("" if checked else f" It is {task.params['target']}.")


class FolderInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} You are in {Path.cwd().name}."


class Printing(ToyEnv):
    def on_reset(self, task):
        sys.stdout.write("An episode begins.\n")
        return super().on_reset(task)


class SecondsInText(ToyEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Open for {time.monotonic() // 3_600:.0f} h."


class SeedsRandom(ToyEnv):
    def on_reset(self, task):
        random.seed(4)
        return super().on_reset(task)


class SetsPrecision(ToyEnv):
    def on_reset(self, task):
        decimal.getcontext().prec = 6
        return super().on_reset(task)


register_source(Marked.name, Marked)
