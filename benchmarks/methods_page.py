"""Table, plots and catalogue of docs/notes/methods.md."""

import tomllib
from pathlib import Path
from typing import Any


def arms(claim: dict[str, Any]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return method and setting of a claim's arm, and of the arm that it is compared with."""
    against = claim.get("against", "grpo")
    other = claim.get("against_setting", claim["setting"])
    return (claim["method"], claim["setting"]), (against, other)


def others(folder: Path) -> list[str]:
    """Return the methods that are compared on the plain setting without a claim."""
    text = (folder / "method_claims.toml").read_text(encoding="utf-8")
    names: list[str] = tomllib.loads(text)["others"]
    return names
