"""Terminal-Bench 1 directories, mapped to the Harbor record.

`task.yaml` contains the instruction, difficulty and time limits; `Dockerfile` is at the top level;
`run-tests.sh` runs the tests, which are copied to /tests with it; `solution.sh` solves the task. A
task is resolved if all tests pass, so the reward is 1 if `run-tests.sh` exits with 0.
"""

import re
from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.terminal.harbor import Files, HarborStep, HarborTask, MalformedTask

__all__ = ["is_terminal_bench", "read_terminal_bench", "read_yaml"]

_OWN = ("task.yaml", "run-tests.sh", "solution.sh", "solution.yaml")
_WRAPPER = """#!/bin/bash
mkdir -p /logs/verifier
TEST_DIR=/tests bash /tests/run-tests.sh
if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


def is_terminal_bench(files: Files) -> bool:
    """Whether a directory has this format."""
    return "task.yaml" in files and "task.toml" not in files


def read_terminal_bench(name: str, files: Files) -> HarborTask:
    """Parse a directory.

    Raises:
        MalformedTask: If a part is missing or malformed; the message names it.
    """
    config = read_yaml(files["task.yaml"].decode("utf-8", "replace"))
    if not isinstance(config.get("instruction"), str):
        raise MalformedTask(f"{name}: task.yaml has no instruction")
    if "run-tests.sh" not in files:
        raise MalformedTask(f"{name}: there is no run-tests.sh")
    tests = {p.removeprefix("tests/"): d for p, d in files.items() if p.startswith("tests/")}
    tests |= {"run-tests.sh": files["run-tests.sh"], "test.sh": _WRAPPER.encode()}
    solution = {"solve.sh": files["solution.sh"]} if "solution.sh" in files else {}
    seconds = float(config.get("max_test_timeout_sec", 60))
    step = HarborStep("", config["instruction"].strip(), tests, solution, None, seconds)
    return HarborTask(
        name=name,
        form="terminal-bench",
        steps=(step,),
        environment={p: d for p, d in files.items() if not _is_own(p)},
        named={p: d for p, d in files.items() if _is_own(p)},
        agent_seconds=float(config.get("max_agent_timeout_sec", 360)),
        difficulty=str(config.get("difficulty", "medium")),
        obstacles=_obstacles(config, files),
    )


def _is_own(path: str) -> bool:
    return path in _OWN or path.startswith("tests/") or _single_service(path)


def _single_service(path: str) -> bool:
    """Whether the path is docker-compose.yaml, which usually has one service; see `_obstacles`."""
    return path == "docker-compose.yaml"


def _obstacles(config: Mapping[str, Any], files: Files) -> tuple[str, ...]:
    found = []
    if str(config.get("parser_name", "pytest")) != "pytest":
        found.append(f"the parser {config['parser_name']}")
    compose = files.get("docker-compose.yaml", b"").decode("utf-8", "replace")
    services = re.search(r"^services:[ \t]*\n((?:[ \t]+.*\n|[ \t]*\n)*)", compose + "\n", re.M)
    if services:
        depth = len(services[1]) - len(services[1].lstrip(" "))
        names = re.findall(rf"^ {{{depth}}}([\w.-]+):", services[1], re.M)
        if len(names) > 1:
            found.append(f"several containers ({', '.join(names)})")
    return tuple(found)


def read_yaml(text: str) -> dict[str, Any]:
    """Parse the subset of YAML in `task.yaml`: a flat map of scalars, block scalars and lists.

    Raises:
        MalformedTask: If a line is outside that subset.
    """
    lines = text.replace("\t", "  ").splitlines()
    result: dict[str, Any] = {}
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if not line.strip() or line.lstrip().startswith("#") or line.strip() == "---":
            continue
        match = re.match(r"^([\w-]+):(?:[ ]+(.*))?$", line.rstrip())
        if match is None:
            raise MalformedTask(f"task.yaml, line {place}: cannot be read: {line[:80]!r}")
        block = []
        while place < len(lines) and (
            not lines[place].strip()
            or lines[place].startswith(" ")
            or lines[place].startswith("- ")
        ):
            block.append(lines[place])
            place += 1
        result[match[1]] = _value((match[2] or "").strip(), block)
    return result


def _value(head: str, block: list[str]) -> Any:
    style = re.match(r"^([|>])([+-]?)\d*([ ]+#.*)?$", head)
    if style:
        return _block_text(block, folded=style[1] == ">", chomp=style[2])
    own = [line.strip() for line in block if line.strip() and not line.lstrip().startswith("#")]
    if not head and own and all(line.startswith("- ") or line == "-" for line in own):
        return [_scalar(line[1:].strip()) for line in own]
    if not head and own:
        return "\n".join(own)
    if head.startswith("[") and head.endswith("]"):
        return [_scalar(part.strip()) for part in head[1:-1].split(",") if part.strip()]
    return _scalar(" ".join([head, *own]))


def _block_text(block: list[str], *, folded: bool, chomp: str) -> str:
    depths = [len(line) - len(line.lstrip(" ")) for line in block if line.strip()]
    cut = min(depths, default=0)
    text = "\n".join(line[cut:] for line in block)
    if folded:
        text = re.sub(r"(?<!\n)\n(?![\n ])", " ", text.rstrip("\n"))
    return text.rstrip("\n") + ("" if chomp == "-" else "\n")


def _scalar(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text[1:-1])
    text = re.sub(r"\s+#.*$", "", text)
    if text in ("", "null", "~"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
