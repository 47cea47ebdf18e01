"""Documents and help texts: examples run, commands parse, and paths and ids named in them exist."""

import io
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hexathlon.envs.registry import ENVIRONMENTS
from hexathlon_cli.app import command as parser
from hexathlon_cli.app import run
from hexathlon_cli.examples import EXAMPLES as CLI_EXAMPLES

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
JUDGES = ROOT / "docs" / "guides" / "judges.md"
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").rglob("*.md"))]
README = (ROOT / "README.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(hexathlon [a-z]+ [^`]+)`(?!`)")
PLACEHOLDER = re.compile(r"(?<= )(?:N|K)(?= |$)")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def examples(path: Path) -> list[tuple[str, str]]:
    """The document's fenced blocks: language and text."""
    return FENCE.findall(path.read_text("utf-8"))


def runnable(path: Path) -> list[str]:
    """Python blocks, except those that open with the name of a file."""
    return [
        text for language, text in examples(path)
        if language == "python" and not re.match(r"# \w+\.py\n", text)
    ]  # fmt: skip


def commands(path: Path) -> Iterator[list[str]]:
    """The arguments of every `hexathlon` command line that the document shows."""
    text = path.read_text("utf-8")
    lines = re.findall(r"^(?: {4}|\$ )?(hexathlon [a-z-].*)$", text.replace("\\\n", " "), re.M)
    for line in [*lines, *INLINE.findall(text)]:
        words = shlex.split(PLACEHOLDER.sub("1", line.partition("  #")[0]))
        yield [word for word in words[1:] if word not in ("…", "...")]


EXAMPLES = [
    pytest.param(path, id=name_of(path)) for path in DOCUMENTS
    if runnable(path) and path.name != "plugins.md"  # which tests/envs/test_plugins.py installs
]  # fmt: skip
COMMANDS = [
    pytest.param(words, id=f"{name_of(path)}: {' '.join(words)}")
    for path in DOCUMENTS
    for words in commands(path)
] + [
    pytest.param(shlex.split(line)[1:], id=f"{name} --help: {line}")
    for name, lines in CLI_EXAMPLES.items()
    for line in lines
]
RUN_HERE = [param for param in COMMANDS if not param.id.startswith("README.md")]
FEWER = {"1000": "2", "300": "2", "100": "2", "91": "2", "20": "2", "600": "30"}
"""Numbers of tasks and labels in the documents, and the smaller ones used here."""


@pytest.mark.parametrize("path", EXAMPLES)
def test_python_examples_run(path: Path, tmp_path: Path) -> None:
    for example in runnable(path):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", example],
            cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if "BackendMissing" in done.stderr:
            pytest.skip(done.stderr.strip().splitlines()[-1])
        assert done.returncode == 0, done.stderr


def test_the_readme_has_an_example_of_about_ten_lines() -> None:
    (example,) = runnable(ROOT / "README.md")
    assert "gymnasium.make(" in example
    assert len([line for line in example.splitlines() if line.strip()]) <= 12


@pytest.mark.parametrize("words", COMMANDS)
def test_command_lines_parse(words: list[str]) -> None:
    command = parser()
    context = command.make_context("hexathlon", list(words))
    while hasattr(command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        if not rest and command.invoke_without_command:
            break
        name, command, rest = command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)


def reason_not_to_run(words: list[str]) -> str:
    """Why a command cannot run in the tests of this file; empty if it can."""
    if any("endpoint:" in word for word in words):
        return "needs a model server"
    if "example/Dial-v0" in words:
        return "run by tests/envs/test_plugins.py, which installs the package"
    if words[0] == "data" and words[1:2] in (["add"], ["check"]):
        return "needs a copy of a public set; tests/cli/test_data.py makes one"
    if "runs/judge/policy" in words:
        return "needs a trained judge; tests/baselines/judging/test_trained_judge.py has one"
    if "--watch" in words:
        return "needs a training run to follow; tests/test_watch.py has one"
    if "docker" in words:
        return "needs a container engine"
    trained = {"runs/first/policy", "runs/first/after"}
    trains = words[0] == "train" and words[1:] and "--print-config" not in words
    if trained & set(words) or trains:
        return "needs minutes of training; tests/baselines/training trains smaller policies"
    if "tasks/fix-build" in words:
        return "needs a task directory; see tests/envs/terminal/test_task_directories.py"
    if "--cluster" in words:
        return "needs a cluster; tests/baselines/cluster starts one"
    if words[0] == "serve":
        return "serves until it is ended; tests/bridges/test_serve.py ends it"
    if words[0] in ("export", "import") and {"datasets", "inspect"} & set(words):
        return "needs pyarrow or inspect_ai; tests/bridges/test_exchange.py has them"
    if words[0] == "submit" and words[1] != "schema":
        return "makes keys and submissions; tests/cli/test_boards.py does"
    if words[0] == "leaderboard" and (words[1] != "build" or words[2] == "board"):
        return "needs a board or a site; tests/cli/test_boards.py makes them"
    if words[0] == "judge" and words[1] in ("gap", "label", "shift"):
        return "needs judged or role-play runs; tests/baselines/judging and test_shift_command.py"
    if "--arena" in words:
        return "needs an arena; tests/baselines/judging/test_arena_command.py makes one"
    if words[0] == "plan" and "--from" in words:
        return "needs a training run; tests/baselines/sizing has one"
    if any(re.fullmatch("[A-Z]{2,}…?", word) and word not in ENVIRONMENT_NAMES for word in words):
        return "has a placeholder"
    if words == ["eval", "agent:oracle"]:
        return "names a command without its options"
    return ""


ENVIRONMENT_NAMES = {env_id.split("/")[1].partition("-")[0] for env_id in ENVIRONMENTS}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs and files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    for name, agent in (("oracle", "oracle"), ("noisy", "noisy:0.3"), ("mine", "noisy:0.1")):
        line = ["eval", f"agent:{agent}", "--envs", "SQL", "--tasks", "3", "--seeds", "2"]
        assert run([*line, "--out", str(folder / "runs" / name)]) == 0
    terminal = ["eval", "agent:oracle", "--envs", "Terminal", "--tasks", "1", "--level", "tiny"]
    assert run([*terminal, "--out", str(folder / "runs" / "terminal")]) == 0
    traces = ["--format", "verifiers", "--out", str(folder / "traces.jsonl")]
    assert run(["export", str(folder / "runs" / "mine"), *traces]) == 0
    unfinished = folder / "runs" / "unfinished"
    shutil.copytree(folder / "runs" / "mine", unfinished)
    lines = (unfinished / "records.jsonl").read_bytes().splitlines(keepends=True)
    (unfinished / "records.jsonl").write_bytes(b"".join(lines[:-1]))
    harbor = ["export", "Terminal", "--format", "harbor", "--level", "tiny", "--count", "1"]
    assert run([*harbor, "--out", str(folder / "data" / "harbor")]) == 0
    (folder / "runs" / "first").mkdir()  # a training run that was stopped before its first step
    (folder / "runs" / "first" / "recipe.json").write_text('{"name": "sql-tiny", "steps": 200}')
    (rubric,) = (text for language, text in examples(JUDGES) if language == "toml")
    (folder / "mine.toml").write_text(rubric, "utf-8")
    return folder


@pytest.mark.parametrize("words", RUN_HERE)
def test_command_lines_run(
    words: list[str], place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line of the guides and of the help, on fewer tasks and into an empty folder."""
    reason = reason_not_to_run(words)
    if reason:
        pytest.skip(reason)
    monkeypatch.chdir(place)
    monkeypatch.setattr("builtins.input", lambda prompt="": "/quit")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    line = [FEWER.get(word, word) for word in words]
    if "--tasks" in line and int(line[line.index("--tasks") + 1]) > 2:
        line[line.index("--tasks") + 1] = "2"
    if "--out" in line:
        line[line.index("--out") + 1] = str(tmp_path / "out")
    elif words[:2] == ["leaderboard", "build"]:
        line += ["--out", str(tmp_path / "out")]
    if words[0] == "eval" and "--tasks" not in words:
        line += ["--tasks", "2"]
    if words[0] == "selftest" and "--tasks" not in words:
        line += ["--tasks", "2"]
    assert run(line) == 0, line


def test_the_rubric_of_the_guide_is_sound(place: Path) -> None:
    from hexathlon.evaluators.judges.lint import lint
    from hexathlon.evaluators.judges.rubric_files import read_rubric

    assert lint(read_rubric(place / "mine.toml")) == []


def recipe_tables() -> list[dict[str, Any]]:
    guides = [ROOT / "docs" / "guides" / name for name in ("training.md", "clusters.md")]
    blocks = [block for guide in guides for block in examples(guide)]
    return [tomllib.loads(text) for language, text in blocks if language == "toml"]


@pytest.mark.parametrize("tables", recipe_tables(), ids=lambda tables: "-".join(tables))
def test_the_tables_of_the_training_guide_are_a_recipes(tables: dict[str, Any]) -> None:
    from hexathlon.baselines.training.recipe import load_recipe

    recipe = load_recipe("sql-tiny", {**tables, "ranks": 1, "evaluation.tasks": 10})
    if "replay" in tables:
        plain = load_recipe("sql-tiny")
        assert (recipe.generate, recipe.replay) == (plain.generate, plain.replay), "the defaults"
    elif "generate" in tables:
        assert recipe.generate.growth() is not None
    elif "asynchrony" in tables:
        assert recipe.asynchrony.rules(8, 32).window == 32
    elif "tasks" in tables:
        assert [table.label for table in recipe.tasks] == ["sql-tiny", "talk"]
    elif "learner" in tables:
        assert recipe.learner.kind == "sharded"
    elif "palette" in tables:
        assert recipe.palette == type(recipe.palette)(share=0.5), "the defaults"
    else:
        assert recipe.engine.kind == "vllm" or recipe.engine.invariant


def test_the_tables_of_the_evaluation_guide_are_settings(tmp_path: Path) -> None:
    from hexathlon.baselines.harness.config import load_config

    guide = ROOT / "docs" / "guides" / "evaluation.md"
    (text,) = (text for language, text in examples(guide) if language == "toml")
    (tmp_path / "run.toml").write_text(text, "utf-8")
    _, execution = load_config({}, tmp_path / "run.toml")
    assert execution.cluster is not None and execution.cluster.pools["browsers"].workers == 2


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    """Python runs, or is a file of another test; TOML is read; shell lines run."""
    files = {
        "# example_dial.py": "tests/envs/test_plugins.py installs it",
        "# chromium.py": "tests/envs/web/test_chromium_window.py takes pictures",
        "# serve.py": "needs a vLLM server; tests/baselines/engines covers the calls",
        "# openenv_client.py": "tests/bridges/test_openenv.py runs it",
        "# skyrl_example.py": "tests/bridges/test_skyrl.py runs it",
        "# inspect_example.py": "tests/bridges/test_inspect.py runs it",
        "# trl_example.py": "tests/bridges/test_examples.py runs it up to the training",
        "# trl_rollout_example.py": "tests/bridges/test_examples.py runs it up to the training",
        "# my_events.py": "tests/bridges/hexathlon_events.py is it",
        "# nemo_row.py": "tests/bridges/test_nemo.py runs it",
        "# ors_client.py": "tests/bridges/test_ors.py runs it",
        "# mcp_client.py": "tests/bridges/test_mcp.py runs it",
        "# agent.py": "tests/bridges/test_command.py runs it",
        "# tinker_client.py": "tests/bridges/test_tinker_service.py runs it",
        "# tinker_example.py": "tests/bridges/test_examples.py runs it up to the training",
    }
    read = {"clusters.md", "evaluation.md", "judges.md", "training.md", "plugins.md"}
    read.add("tinker.md")  # tests/bridges/test_tinker_driver.py
    for path in GUIDES:
        for language, text in examples(path):
            lines = text.splitlines()
            if language == "python":
                assert lines[0] in files or not re.match(r"# \w+\.py$", lines[0]), (path, lines[0])
            elif language == "toml":
                assert path.name in read, path
            elif path.name != "README.md" and language != "text":
                assert all(line.startswith("hexathlon ") for line in lines), (path, lines)


DOORS = sorted((ROOT / "docs" / "guides" / "doors").glob("*.md"))
DOORS += [ROOT / "docs" / "guides" / f"{name}.md" for name in ("models", "programs", "tinker")]


@pytest.mark.parametrize("path", DOORS, ids=name_of)
def test_pages_of_doors_say_how_what_and_which_versions(path: Path) -> None:
    text = path.read_text("utf-8")
    assert examples(path)
    titles = re.findall(r"^## (.*)$", FENCE.sub("", text), re.MULTILINE)
    assert {"What it can and cannot do", "Versions"} <= set(titles)
    assert re.search(r"\d+\.\d+\.\d+", text.partition("\n## Versions\n")[2])
    extras = set(re.findall(r"`hexathlon\[([a-z,]+)\]`", text))
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert extras and {name for extra in extras for name in extra.split(",")} <= set(
        known["optional-dependencies"]
    )


def test_help_has_a_summary_and_examples_for_every_command() -> None:
    root = parser()
    for name, command in root.commands.items():
        inner = getattr(command, "commands", {})
        for full, one in {name: command, **{f"{name} {k}": v for k, v in inner.items()}}.items():
            summary = (one.help or "").partition("\n")[0]
            assert summary.endswith(".") and len(summary) <= 75, (full, summary)
            assert full in CLI_EXAMPLES or inner, full
            for parameter in one.params:
                text = getattr(parameter, "help", None)
                assert text, (full, parameter.name)
                assert text.endswith((".", "]")), (full, parameter.name, text)


def test_there_are_commands_to_parse() -> None:
    assert len(COMMANDS) >= 12


def test_flags_that_the_guide_names_exist() -> None:
    command = parser()
    groups = [command, *command.commands.values()]
    known = {
        option
        for one in [*groups, *(sub for g in groups for sub in getattr(g, "commands", {}).values())]
        for parameter in one.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    text = (ROOT / "docs" / "guides" / "evaluation.md").read_text("utf-8")
    named = set(re.findall(r"`(?:[^`]* )?(--[a-z-]+)", text))
    assert len(named) > 8
    assert named <= known


def test_the_readmes_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that need no server, no player and no long training, on fewer tasks."""
    monkeypatch.chdir(tmp_path)
    ran = []
    for words in commands(ROOT / "README.md"):
        if words[0] in ("play", "train") or any(word.startswith("endpoint:") for word in words):
            continue
        assert run([{"50": "3", "100": "2"}.get(word, word) for word in words]) == 0, words
        ran.append(words[0])
    assert ran == [
        "list", "eval", "eval", "verify", "compare", "arena", "report", "leaderboard", "selftest",
        "export", "doctor",
    ]  # fmt: skip
    assert (tmp_path / "site" / "mine" / "index.html").is_file()


def test_paths_of_the_annotated_tree_exist_and_none_is_missing() -> None:
    (tree,) = (text for language, text in examples(ROOT / "README.md") if not language)
    named = [line.split()[0] for line in tree.splitlines()]
    for name in named:
        assert name.endswith("/") and list(ROOT.glob(name.replace("<event>", "*"))), name
    assert all(len(line) <= 110 for line in tree.splitlines())
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folders = {line.partition("/")[0] for line in listed.stdout.splitlines() if "/" in line}
    visible = {folder for folder in folders if not folder.startswith(".")}
    assert visible == {name.partition("/")[0] for name in named}


def test_the_table_of_events_names_what_is_registered() -> None:
    rows = re.findall(r"^\| `(hexathlon/[\w-]+)` \|.*\| ([\w ]+) \|$", README, re.MULTILINE)
    assert len(rows) == 6
    here = {env_id for env_id, state in rows if state == "available"}
    assert here == {env_id for env_id in ENVIRONMENTS if env_id.startswith("hexathlon/")}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_and_named_files_exist(path: Path) -> None:
    """Links into `reference/`, which `scripts/docs` generates, are checked by building the site."""
    text = FENCE.sub("", path.read_text("utf-8"))
    for target in re.findall(r"\]\((?!https?:|#|reference/)([^)#]+)", text):
        assert (path.parent / target).exists(), target
    folders = "docs|scripts|tests|benchmarks|tasks|envs|evaluators|baselines|leaderboard"
    for target in re.findall(rf"`((?:{folders})/[\w./-]+)`", text):
        assert (ROOT / target).exists(), target


def test_make_targets_that_documents_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    for path in DOCUMENTS:
        text = path.read_text("utf-8")
        shown = re.findall(r"`make ([\w-]+)`|^ {4}make ([\w-]+)", text, re.MULTILINE)
        assert {one or other for one, other in shown} <= targets, path


def test_every_dependency_is_pinned_and_justified() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["dev"], *extras["duckdb"], *extras["postgres"]]
    constraints = (ROOT / "constraints.txt").read_text("utf-8")
    pinned = {
        re.sub(r"[-_.]+", "-", name).lower()
        for name in re.findall(r"^([\w.-]+)==", constraints, re.MULTILINE)
    }
    reasons = (ROOT / "docs" / "notes" / "dependencies.md").read_text("utf-8").lower()
    for requirement in wanted:
        name = re.match(r"[\w.-]+", requirement)
        assert name is not None
        assert re.sub(r"[-_.]+", "-", name[0]).lower() in pinned, requirement
        assert name[0].lower() in reasons, requirement
