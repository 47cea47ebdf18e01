"""The performance table, and claims of the documents that no script of it measures."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
PEERS = {
    "inspect_ai": "inspect", "lm_eval": "lm_eval", "skyrl-gym": "skyrl", "GEM": "gem", "TRL": "trl",
    "vLLM": "vllm", "tau2": "tau2",
}  # fmt: skip
"""Environment of `scripts/peers` by the peer's name in the documents."""

RATIO = re.compile(r"\d[\d.]*\)? ?(×|times)|\*\*\d+\.\d+\*\*|\bratios?\b", re.IGNORECASE)
TARGET = re.compile(r"\btargets?\b|\| [≥≤] ?\d", re.IGNORECASE)
SCRIPT = re.compile(r"benchmarks/(\w+\.py)")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Import a module of the benchmarks, which import each other by their names."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module


def unsupported(text: str, table: Any) -> Iterator[str]:
    """Yield the claims of a document against a peer or a target that no script measures.

    A section is taken as a whole: its scripts are those it names. A claim against a peer needs one
    that the table runs with that peer, a claim against a target one that the table runs or leaves
    out for a reason.
    """
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        heading = section.partition("\n")[0].lstrip("# ")
        scripts = set(SCRIPT.findall(section))
        known = {part.script for part in table.PARTS} | {*table.OUTSIDE, "table.py"}
        for block in section.split("\n\n"):
            claim = f"{heading}: {' '.join(block.split())[:100]}"
            if TARGET.search(block) and not scripts & known:
                yield f"no script for a target: {claim}"
            for peer, place in PEERS.items():
                named = re.search(rf"\b{peer}\b", block)
                runs = {part.script for part in table.PARTS if place in table.places(part)}
                if named and RATIO.search(block) and not scripts & runs:
                    yield f"no script with {peer}: {claim}"


@pytest.mark.parametrize("name", ["README.md", "docs/notes/performance.md"])
def test_every_claim_has_a_script(name: str, module: Callable[[str], Any]) -> None:
    assert list(unsupported((ROOT / name).read_text(encoding="utf-8"), module("table"))) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("## Steps\n\nA step is 3.1 × as fast as skyrl-gym's.", "no script with skyrl-gym"),
        ("## Steps\n\n`benchmarks/cache_speed.py`\n\n**2.00** over TRL.", "no script with TRL"),
        ("## Steps\n\n| list | 0.4 s | ≤ 0.3 s |", "no script for a target"),
        ("## Steps\n\n`benchmarks/unknown.py`: the target is met.", "no script for a target"),
    ],
)
def test_a_claim_without_a_script_is_found(
    text: str, fault: str, module: Callable[[str], Any]
) -> None:
    (found,) = unsupported(text, module("table"))
    assert found.startswith(fault)


def test_a_claim_with_its_script_passes(module: Callable[[str], Any]) -> None:
    text = "## Start\n\n`benchmarks/start_speed.py`: 4 × less than lm_eval, target 2."
    assert list(unsupported(text, module("table"))) == []


def test_scripts_of_the_notes_are_known(module: Callable[[str], Any]) -> None:
    table = module("table")
    text = (ROOT / "docs/notes/performance.md").read_text(encoding="utf-8")
    helpers = {"trainer_steps.py", "step_games.py", "table.py"}
    named = set(SCRIPT.findall(text)) - helpers
    assert named <= {part.script for part in table.PARTS} | set(table.OUTSIDE)
    for script in named | set(table.OUTSIDE):
        assert (BENCHMARKS / script).exists(), script


def test_parts_give_their_scripts_options_that_they_have(module: Callable[[str], Any]) -> None:
    table = module("table")
    for part in table.PARTS:
        source = (BENCHMARKS / part.script).read_text(encoding="utf-8")
        assert "add_options(" in source, part.script
        source += (BENCHMARKS / "comparing.py").read_text(encoding="utf-8")
        flags = [word for word in part.arguments.split() if word.startswith("--")]
        for flag in (*flags, *part.peers):
            assert f'"{flag}"' in source, (part.script, flag)


def test_peers_of_the_parts_are_made_by_the_script(module: Callable[[str], Any]) -> None:
    table = module("table")
    (known,) = re.findall(r"^known=\((.+)\)$", (ROOT / "scripts/peers").read_text(), re.MULTILINE)
    needed = {place for part in table.PARTS for place in table.places(part)}
    assert needed == set(known.split()) == set(PEERS.values())


def test_a_row_says_how_many_times_better_ours_is(module: Callable[[str], Any]) -> None:
    compare = module("comparing").compare
    cost = compare("cost", "s", [1.0, 2.0, 1.0], [3.0, 4.0, 2.5], beside="peer", least=2.5)
    assert (cost.ratio, cost.low, cost.high, cost.rounds) == (2.5, 2.0, 3.0, 3)
    assert cost.met is True
    rate = compare("rate", "steps/s", [10.0], [20.0], beside="peer", least=1.0, rate=True)
    assert (rate.ratio, rate.met) == (0.5, False)
    with pytest.raises(ValueError, match="run at least one"):
        compare("none", "s", [], [], beside="peer")


def test_the_step_benchmark_compares_two_sides(module: Callable[[str], Any]) -> None:
    steps = module("step_speed")
    command = (sys.executable, BENCHMARKS / "step_games.py")
    with steps.Side(*command) as ours, steps.Side(*command) as peer:
        (row,) = steps.measure(ours, peer, ["guess"], 1)
    assert (row.name, row.beside, row.rounds) == ("a step: guess", "hexathlon", 1)
    assert row.ratio == pytest.approx(row.ours / row.peer)
    assert row.ours > 1_000  # steps per second, not seconds per step


def test_the_table_is_written(tmp_path: Path) -> None:
    out = tmp_path / "table.md"
    words = ("--only", "start", "engine", "--rounds", "1", "--out", str(out))
    command = [sys.executable, BENCHMARKS / "table.py", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    page = out.read_text(encoding="utf-8")
    (listed,) = re.findall(r"^\| hexathlon list \| ≤ 0.3 s CPU \| (\S+) s CPU \|", page, re.M)
    assert 0.05 < float(listed) < 60
    assert "| start: **not run**: no environment of lm_eval |" in page
    assert "| engine: **not run**: no environment of vllm |" in page
    assert re.search(r"^\d{4}-\d\d-\d\d, \d+ cores \(.+\), \d+ GiB, Linux\.$", page, re.M)
    assert re.search(r"^Load [\d.]+ before, [\d.]+ after, ", page, re.M)


def test_a_script_that_fails_is_named(module: Callable[[str], Any], tmp_path: Path) -> None:
    table = module("table")
    (tmp_path / "trl/bin").mkdir(parents=True)
    (tmp_path / "trl/bin/python").write_text("#!/bin/sh\necho broken peer >&2\nexit 7\n")
    (tmp_path / "trl/bin/python").chmod(0o755)
    (part,) = (part for part in table.PARTS if part.name == "training")
    result = table.run(part, tmp_path, 1)
    assert "broken peer" in result.failure
    assert "| training: **failed**: exit code 1" in table.written([result], [])
