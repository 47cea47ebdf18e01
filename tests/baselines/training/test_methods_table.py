"""The table of methods in the training guide names parts and settings that exist."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.training.recipe import load_recipe
from support.registered_parts import REGISTRIES

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "training.md"
KINDS = {
    "sampler": "SAMPLERS", "allocator": "ALLOCATORS", "horizon": "HORIZONS", "hint": "HINTS",
    "context": "CONTEXTS", "replay": "REPLAYS", "estimator": "ESTIMATORS", "shaping": "SHAPINGS",
    "filter": "FILTERS", "token rule": "TOKEN_RULES", "surrogate": "SURROGATES",
    "aggregation": "AGGREGATIONS", "pruning": "PRUNINGS",
}  # fmt: skip
PART = re.compile(rf"({'|'.join(KINDS)}) `(\w+)`")


def rows() -> list[tuple[str, str]]:
    section = GUIDE.read_text("utf-8").split("\n## Methods\n")[1].split("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:2] == "| "]
    return [(name, parts) for name, parts in cells[1:]]


@pytest.mark.parametrize(("method", "parts"), rows(), ids=lambda text: text[:20])
def test_parts_and_settings_of_a_method_exist(method: str, parts: str) -> None:
    named = PART.findall(parts)
    for kind, name in named:
        assert name in REGISTRIES[KINDS[kind]], (method, kind, name)
    others = [text for text in re.findall(r"`([^`]+)`", parts) if not re.fullmatch(r"\w+", text)]
    settings = [text.split(" = ") for text in others if " = " in text]
    assert named or others
    changed = {key: tomllib.loads(f"value = {value}")["value"] for key, value in settings}
    if "critic.heads" in changed:
        changed |= {"credit.estimator.name": "gae"}
    load_recipe("sql-tiny", changed)
    for path in (text for text in others if text.startswith("hexathlon.")):
        module, _, function = path.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))
