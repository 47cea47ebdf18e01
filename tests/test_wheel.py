"""The distribution: a wheel built from the sdist contains every file and imports."""

import json
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.product
ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("matplotlib", "torch", "transformers", "tokenizers", "safetensors", "playwright",
          "ray", "starlette", "uvicorn", "android_env", "jeepney", "Xlib", "chz", "tinker",
          "tinker_cookbook", "verifiers", "harbor", "openenv", "openreward",
          "inspect_ai", "pytest")  # fmt: skip
"""Modules of extras such as `train`, `web` and `gui`, which an empty environment lacks, and pytest,
which the sandboxes of the terminal bring for the plug-in that reports outcomes."""

FOLDERS = ("tasks", "evaluators", "envs", "baselines", "leaderboard")


def run(*command: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    out = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=env, capture_output=True, text=True, timeout=800,
    )  # fmt: skip
    assert out.returncode == 0, f"{command}\n{out.stdout[-2000:]}\n{out.stderr[-2000:]}"
    return out.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel built as an installer does: from the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return next(out.glob("*.whl"))


def expected_files() -> set[str]:
    files = run("git", "ls-files", *FOLDERS, cwd=ROOT).split("\n")
    return {f"hexathlon/{name}" for name in files if name}


def test_the_wheel_contains_every_module_and_data_file(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = sorted(expected_files() - names)
    assert not missing, f"not in the wheel: {missing[:10]}"
    assert {"hexathlon/__init__.py", "hexathlon/py.typed", "hexathlon_cli/__init__.py"} <= names


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts directory of a separate environment, as `pipx` and `uvx` create it."""
    folder = tmp_path_factory.mktemp("isolated") / "venv"
    venv.create(folder, with_pip=True)
    run(
        folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile",
        "--constraint", ROOT / "constraints.txt", wheel, cwd=folder,
    )  # fmt: skip
    return folder / "bin"


def test_it_imports_in_an_empty_environment(programs: Path, tmp_path: Path) -> None:
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
            f"        if error.name.split('.')[0] not in {EXTRAS}: raise",
        ]
    )
    run(programs / "python", "-W", "error", "-c", code, *modules, cwd=tmp_path)


def test_its_command_works_without_the_checkout(programs: Path, tmp_path: Path) -> None:
    """Run as by `pipx run` and `uvx`: by path, with nothing of ours in the environment."""
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    command = programs / "hexathlon"

    def hexathlon(*arguments: object) -> str:
        return run(command, *arguments, cwd=tmp_path, env=bare)

    (version,) = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert hexathlon("--version") == f"hexathlon {version}\n"
    assert run(programs / "python", "-m", "hexathlon", "--version", cwd=tmp_path, env=bare) == (
        f"hexathlon {version}\n"
    )
    assert "hexathlon/SQL-v1" in hexathlon("list")
    hexathlon("eval", "agent:oracle", "--envs", "SQL", "--tasks", "2", "--out", "played")
    assert json.loads((tmp_path / "played" / "plan.json").read_text())["suite_version"] == version
    hexathlon("verify", "played")
    hexathlon("leaderboard", "build", "played", "--out", "site")
    assert (tmp_path / "site" / "index.html").is_file()
