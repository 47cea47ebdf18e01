"""Third-party packages: found, listed, made, evaluated, checked; or rejected by name."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "guides" / "plugins.md"
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


def block(language: str, opening: str) -> str:
    return next(text for kind, text in BLOCKS if kind == language and text.startswith(opening))


EXAMPLE = block("python", "# example_dial.py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The guide's example, installed by pip into a separate directory."""
    folder = tmp_path_factory.mktemp("dial")
    (folder / "pyproject.toml").write_text(block("toml", "# pyproject.toml"))
    (folder / "example_dial.py").write_text(EXAMPLE)
    target = folder / "installed"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*command, "--target", target, folder], check=True, capture_output=True)
    return target


def run(folder: Path, *arguments: str, **options) -> subprocess.CompletedProcess:
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], env=env, capture_output=True, text=True, **options
    )


def plain_package(folder: Path, module: str, target: str) -> Path:
    """Write a package with an entry point by hand."""
    (folder / "planted_plugin.py").write_text(module)
    about = folder / "planted_plugin-0.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: planted-plugin\nVersion: 0.3\n")
    (about / "entry_points.txt").write_text(f"[hexathlon.envs]\nplanted = {target}\n")
    return folder


OFFER = """
from hexathlon.envs.plugins import offer

def register():
    offer("%s", "m:C", family="f", title="t", tasksets=("x",))
"""
LOAD = "from hexathlon.envs.plugins import load_plugins; load_plugins()"


@pytest.mark.parametrize("example", [EXAMPLE, block("python", '"""Find the lit cell')])
def test_the_examples_have_at_most_sixty_lines_of_code(example):
    """Lines that are neither empty nor a comment count, docstrings included, in our formatting."""
    formatter = ["-m", "ruff", "format", "--isolated", "--line-length", "100", "-"]
    formatted = subprocess.run(
        [sys.executable, *formatter], input=example, capture_output=True, text=True, check=True
    ).stdout
    assert formatted == example
    lines = [line.strip() for line in example.splitlines()]
    assert 40 <= len([line for line in lines if line and not line.startswith("#")]) <= 60


def test_found_and_made_by_gymnasium(installed):
    code = (
        "import json, gymnasium\n"
        "from hexathlon.envs.plugins import load_plugins\n"
        "assert 'example/Dial-v0' not in gymnasium.registry\n"
        "first, again = load_plugins(), load_plugins()\n"
        "assert first == again\n"
        "env = gymnasium.make('example/Dial-v0')\n"
        "vector = gymnasium.make_vec('example/Dial-v0', 2)\n"
        "print(json.dumps([first, env.reset(seed=1)[0], type(vector).__name__]))\n"
    )
    out = run(installed, "-c", code)
    assert out.returncode == 0, out.stderr
    plugins, opening, vector = json.loads(out.stdout)
    assert plugins == [["dial", "example-dial", "1.0", ["example/Dial-v0"]]]
    assert opening.startswith("Turn the dial to") and vector == "VectorEnvironment"


def test_the_documents_own_lines_run_and_the_kit_passes(installed):
    out = run(installed, "-c", block("python", "from hexathlon.envs.plugins"))
    assert out.returncode == 0, out.stderr


def test_the_kit_names_a_fault_in_a_plugin(installed, tmp_path):
    broken = EXAMPLE.replace('"left": True})', '"left": True} or not final_state["left"])')
    (tmp_path / "example_dial.py").write_text(broken)
    for path in installed.glob("*.dist-info"):
        (tmp_path / path.name).symlink_to(path)
    out = run(tmp_path, "-c", block("python", "from hexathlon.envs.plugins"))
    assert out.returncode != 0 and "failed  noop_scores_zero" in out.stderr


def test_listed_and_evaluated_by_the_commands(installed, tmp_path):
    listing = run(installed, "-m", "hexathlon", "list", "--json")
    assert listing.returncode == 0, listing.stderr
    assert "example/Dial-v0" in listing.stdout
    runs = tmp_path / "dial"
    command = ["-m", "hexathlon", "eval", "agent:oracle", "--envs", "example/Dial-v0"]
    out = run(installed, *command, "--tasks", "3", "--out", str(runs))
    assert out.returncode == 0, out.stderr + out.stdout
    records = [json.loads(line) for line in (runs / "records.jsonl").read_text().splitlines()]
    assert [record["reward"] for record in records] == [1.0] * 3
    assert {record["key"]["env"] for record in records} == {"example/Dial-v0"}


@pytest.mark.parametrize(
    ("module", "target", "reason"),
    [
        ("raise RuntimeError('no licence')", "planted_plugin", "RuntimeError: no licence"),
        ("", "planted_plugin:register", "has no attribute 'register'"),
        ("", "no_such_module:register", "No module named 'no_such_module'"),
        ("def register(): pass", "planted_plugin:register", "registered no environment"),
        (
            OFFER % "hexathlon/SQL-v1",
            "planted_plugin:register",
            "the namespace 'hexathlon' is ours",
        ),
        (
            OFFER % "CartPole-v1",
            "planted_plugin:register",
            "the id CartPole-v1 is taken",
        ),
    ],
)
def test_a_broken_plugin_fails_loudly_and_names_itself(tmp_path, module, target, reason):
    folder = plain_package(tmp_path, module, target)
    out = run(folder, "-c", LOAD)
    assert out.returncode == 1
    message = out.stderr.strip().splitlines()[-1]
    assert "PluginError" in message and "the plugin 'planted' of planted-plugin 0.3" in message
    assert reason in message


def test_a_broken_plugin_is_a_plain_message_on_the_command_line(tmp_path):
    folder = plain_package(tmp_path, "raise RuntimeError('no licence')", "planted_plugin")
    out = run(folder, "-m", "hexathlon", "list")
    assert out.returncode == 4 and "Traceback" not in out.stderr
    words = " ".join((out.stderr + out.stdout).split())
    assert "the plugin 'planted' of planted-plugin 0.3" in words
