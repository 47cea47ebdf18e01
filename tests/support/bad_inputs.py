"""The catalogue of bad command lines, and the directory in which they run."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["CASES", "make_place"]

FILE = Path(__file__).resolve().parents[1] / "cli" / "bad_inputs.txt"
_CASE = re.compile(r"(.*) => (\d): (.+)")


def _cases() -> Iterator[tuple[str, int, str]]:
    for line in FILE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            result = _CASE.fullmatch(line)
            assert result is not None, line
            yield result[1], int(result[2]), result[3]


CASES = list(_cases())
"""Command line, exit code, beginning of the message after `error: `."""


def make_place(place: Path, run: Path, labels: Path) -> None:
    """Fill a directory with invalid inputs of every kind.

    Args:
        place: The folder.
        run: A sound run of three trials.
        labels: A sound label file.
    """
    texts = {
        "text": "hello\n", "empty": "", "bad.toml": "a = \n", "unknown.toml": 'modle = "x"\n',
        "types.toml": 'model = "agent:noop"\nenvs = ["Toy"]\ntasks = "many"\n',
        "limits.toml": 'model = "agent:noop"\nenvs = ["Toy"]\n[limits]\nturns = -1\n',
        "list.toml": 'model = ["agent:noop"]\nenvs = 3\n',
        "outlist.toml": 'model = "agent:noop"\nenvs = ["Toy"]\nout = 3\n',
        "table.toml": 'model = "agent:noop"\nenvs = ["Toy"]\nlimits = 3\n',
        "recipe.toml": 'name = "x"\nsteps = "many"\n', "rubric.toml": "id = 3\n",
        "audit.json": '{"a": 1', "audit2.json": "{}", "prices.toml": "x = 3\n",
        "torn.jsonl": labels.read_text("utf-8")[:300],
    }  # fmt: skip
    for name, text in texts.items():
        (place / name).write_text(text, "utf-8")
    (place / "binary").write_bytes(bytes(range(256)))
    for name in ("loop", "loop.toml"):
        (place / name).symlink_to(name)
    for name in ("folder", "folder.toml"):
        (place / name).mkdir()
    folders = {"ckpt2": "config.json", "ckpt3": "config.json", "tb": "task.toml"}
    contents = {"ckpt2": "{}", "ckpt3": "[]", "tb": "x = \n"}
    for name, file in {**folders, "tb2": "task.toml", "tb3": "task.yaml"}.items():
        (place / name).mkdir()
        (place / name / file).write_text({"tb2": "", "tb3": "a: [\n", **contents}[name], "utf-8")
    for name, file, edit in _BROKEN_RUNS:
        shutil.copytree(run, place / name)
        path = place / name / file
        path.write_bytes(edit(path.read_bytes()))
    for name, keys, ledger in _BROKEN_BOARDS:
        (place / name).mkdir()
        (place / name / "keys.json").write_text(keys, "utf-8")
        (place / name / "ledger.jsonl").write_text(ledger, "utf-8")
    shutil.copytree(run, place / "good")
    shutil.copytree(run, place / "plan-folder")
    os.remove(place / "plan-folder" / "plan.json")
    (place / "plan-folder" / "plan.json").mkdir()


_BROKEN_BOARDS = (
    ("board", "{}", ""), ("torn-keys", "{", ""), ("list-keys", "[1]", ""),
    ("torn-ledger", "{}", '{"number": 1'),
)  # fmt: skip

_BROKEN_RUNS: list[tuple[str, str, Callable[[bytes], bytes]]] = [
    ("torn-records", "records.jsonl", lambda data: data[:-40]),
    ("no-records", "records.jsonl", lambda data: b""),
    ("bad-record", "records.jsonl", lambda data: b"nonsense\n" + data),
    ("binary-record", "records.jsonl", lambda data: bytes(range(256)) + b"\n"),
    (
        "field-record",
        "records.jsonl",
        lambda data: data.replace(b'"reward":1.0', b'"reward":"one"'),
    ),
    ("torn-plan", "plan.json", lambda data: data[:100]),
    ("old-plan", "plan.json", lambda data: data.replace(b"hexathlon.plan/1", b"hexathlon.plan/0")),
    ("list-plan", "plan.json", lambda data: b"[]"),
    ("empty-plan", "plan.json", lambda data: b""),
    ("changed-plan", "plan.json", lambda data: data.replace(b'"tasks":3', b'"tasks":4')),
]
"""Directory, file in it, and how the file is broken."""
