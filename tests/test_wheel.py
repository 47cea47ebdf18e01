"""The distribution: a wheel built from the sdist holds every file of the folders and imports."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TRAIN = ("torch", "transformers", "tokenizers", "safetensors")
"""What comes with the extra `train`, which an empty environment lacks."""

FOLDERS = ("tasks", "evaluators", "envs", "baselines", "leaderboard")


def run(*command: object, cwd: Path) -> str:
    out = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=280
    )
    assert out.returncode == 0, f"{command}\n{out.stdout[-2000:]}\n{out.stderr[-2000:]}"
    return out.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built the way an installer builds it: from the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return next(out.glob("*.whl"))


def expected_files() -> set[str]:
    files = run("git", "ls-files", *FOLDERS, cwd=ROOT).split("\n")
    return {f"hexathlon/{name}" for name in files if name}


def test_the_wheel_holds_every_module_and_data_file(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = sorted(expected_files() - names)
    assert not missing, f"not in the wheel: {missing[:10]}"
    assert {"hexathlon/__init__.py", "hexathlon/py.typed", "hexathlon_cli/__init__.py"} <= names


def test_it_installs_into_an_empty_environment_and_imports(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(
        python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel,
        cwd=tmp_path,
    )  # fmt: skip
    optional = ("duckdb", "postgres", "mysql", "browser")
    modules = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in sorted(expected_files())
        if name.endswith(".py") and not any(word in name for word in optional)
    ]
    code = "\n".join(
        [
            "import importlib, sys",
            "for name in sys.argv[1:]:",
            "    try: importlib.import_module(name)",
            "    except ModuleNotFoundError as error:",
            f"        if error.name.split('.')[0] not in {TRAIN}: raise",
        ]
    )
    run(python, "-W", "error", "-c", code, *modules, cwd=tmp_path)
    listing = run(tmp_path / "venv" / "bin" / "hexathlon", "list", cwd=tmp_path)
    assert "hexathlon/SQL-v0" in listing
