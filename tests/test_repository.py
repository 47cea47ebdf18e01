"""The usual files of a repository exist, parse, and agree with the package."""

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
FORMS = [path for path in TEMPLATES if path.name != "config.yml"]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_changelog_and_the_citation_name_the_version() -> None:
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", read("CHANGELOG.md"), re.MULTILINE)
    assert released[0] == PROJECT["version"]
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


def test_the_changelog_opens_with_what_is_unreleased() -> None:
    headings = re.findall(r"^## (.*)$", read("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    kinds = set(re.findall(r"^### (.*)$", read("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_without_an_installed_distribution_the_version_says_so() -> None:
    code = (
        "import importlib.metadata as m\n"
        "def version(name): raise m.PackageNotFoundError(name)\n"
        "m.version = version\n"
        "import hexathlon; print(hexathlon.__version__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0+unknown\n"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_are_complete(path: Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    assert form["name"] and form["description"] and form["labels"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    names = [field["id"] for field in fields]
    assert len(names) == len(set(names)) >= 3
    required = [field for field in fields if field.get("validations", {}).get("required")]
    assert required
    assert all(field["attributes"]["label"] for field in fields)


def test_there_is_a_form_for_each_kind_of_report() -> None:
    assert {path.stem for path in FORMS} == {"bug", "escape", "task-problem", "wrong-reward"}


def test_the_workflow_calls_the_script_that_everybody_calls() -> None:
    workflow = yaml.safe_load(read(".github/workflows/test.yml"))
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert len(commands) == 1 and commands[0].endswith(" .ci/run")
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert lowest in job["strategy"]["matrix"]["python"]


def test_the_dockerfile_calls_scripts_and_targets_that_exist() -> None:
    lines = re.sub(r"\\\n", " ", read("Dockerfile")).splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    words = [word for word, _ in steps]
    assert words[0] == "FROM" and words[-1] == "CMD"
    assert set(words) <= {"FROM", "RUN", "ENV", "WORKDIR", "COPY", "CMD"}
    assert words.index("COPY") < len(words) - 1 - words[::-1].index("RUN")
    program, target = json.loads(steps[-1][1])
    assert program == "make"
    assert re.search(rf"^{target}:", read("Makefile"), re.MULTILINE)
    for script in re.findall(r"scripts/\w+", " ".join(rest for _, rest in steps)):
        assert (ROOT / script).is_file(), script


def test_the_image_has_what_ci_installs_on_a_bare_machine() -> None:
    wanted = set()
    for packages in re.findall(r"wanted\+=\(([^)]*)\)", read(".ci/run")):
        wanted.update(packages.split())
    assert wanted - {"python3", "python3-venv"} <= set(read("Dockerfile").split())


def test_the_image_leaves_out_what_git_ignores_and_keeps_the_history() -> None:
    ignored = read(".dockerignore").split()
    assert ".git" not in ignored
    assert {".venv*", "runs", "site", "site-docs", "shared"} <= set(ignored)


def test_files_that_are_run_first_exist() -> None:
    conftest = runpy.run_path(str(ROOT / "tests" / "conftest.py"))
    assert all((ROOT / "tests" / name).is_file() for name in conftest["_LONGEST"])


def test_the_root_has_no_files_but_those_that_belong_there() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--", ":(glob)*"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {name for name in listed.stdout.split() if not name.startswith(".")}
    assert files == {
        "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "Makefile",
        "README.md", "SECURITY.md", "constraints-oracles.txt", "constraints-vllm.txt",
        "constraints.txt", "mkdocs.yml", "pyproject.toml",
    }  # fmt: skip
