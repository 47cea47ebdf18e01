"""Reports of other tools' own validators about our doors, published beside the docs.

Run it with the interpreter of the door's environment, which `scripts/bridges` makes:

    .venv-bridges/openenv/bin/python scripts/validation.py openenv

It writes `docs/notes/validation/DOOR.json`: OpenEnv's report of RFC 008, the summary of verifiers'
`vf-validate`, or the results of Harbor's agents `oracle` and `nop`.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True


def openenv(folder: Path) -> dict[str, Any]:
    """Validate an event as an OpenEnv package; see RFC 008."""
    from bridges.openenv_package import validated

    report = validated(folder / "hexathlon-sql")
    report["target"] = "hexathlon-sql"
    passed = report["verdict"] != "fail"
    return {"package": f"openenv {version('openenv')}", "passed": passed, "report": report}


def verifiers(folder: Path) -> dict[str, Any]:
    """Validate the first tasks of an event as a taskset of verifiers."""
    from bridges.test_verifiers import validated

    report = validated(folder)
    passed = all(check["valid"] == 3 for check in report["checks"].values())
    return {"package": f"verifiers {version('verifiers')}", "passed": passed, "report": report}


def harbor(folder: Path) -> dict[str, Any]:
    """Play exported terminal tasks with Harbor's agents `oracle` and `nop`."""
    from bridges.test_harbor import exported, rewards, run

    report = {agent: rewards(run(exported(folder), agent, folder)) for agent in ("oracle", "nop")}
    passed = set(report["oracle"]) == {1.0} and set(report["nop"]) == {0.0}
    return {"package": f"harbor {version('harbor')}", "passed": passed, "report": report}


VALIDATORS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "openenv": openenv,
    "verifiers": verifiers,
    "harbor": harbor,
}


def main() -> int:
    """Validate and write; the exit code is 1 if the validator's verdict is a failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("door", choices=list(VALIDATORS))
    door = parser.parse_args().door
    with tempfile.TemporaryDirectory() as folder:
        report = {"door": door, **VALIDATORS[door](Path(folder))}
    place = ROOT / "docs" / "notes" / "validation" / f"{door}.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"{door}: {'passed' if report['passed'] else 'FAILED'}")
    return int(not report["passed"])


if __name__ == "__main__":
    sys.exit(main())
