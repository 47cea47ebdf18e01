"""Reading task directories: Harbor, Terminal-Bench 1, their Dockerfiles."""

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import directory_source, expected_tests
from hexathlon.tasks.terminal.dockerfile import Copy, Run, read_dockerfile
from hexathlon.tasks.terminal.harbor import MalformedTask, read_harbor
from hexathlon.tasks.terminal.opening import parse_files
from hexathlon.tasks.terminal.terminal_bench import read_yaml
from support.task_folders import HARBOR, TERMINAL_BENCH, write_folder


def as_bytes(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


def test_settings_of_a_harbor_task():
    task = read_harbor("inventory", as_bytes(HARBOR["inventory"]))
    assert task.name == "tests/inventory"
    assert task.verifier_mode == "separate"
    assert task.variables == {"REGION": "north"} and task.test_variables == {"STRICT": "yes"}
    assert task.memory_mb == 256 and task.steps[0].seconds == 60.0
    assert expected_tests(task.steps[0]) == [
        "test_total.py::test_written", "test_total.py::test_program",
        "test_total.py::test_variables", "test_total.py::TestStock::test_kept",
    ]  # fmt: skip


def test_steps_in_their_order_with_least_rewards():
    task = read_harbor("two_steps", as_bytes(HARBOR["two_steps"]))
    assert [(step.name, step.min_reward) for step in task.steps] == [
        ("first", 0.5),
        ("second", None),
    ]
    assert task.workdir == "/work" and task.strategy == "mean"


@pytest.mark.parametrize("schema", ["1.0", "1.1", "1.2", "1.3", "1.4"])
def test_schemas(schema):
    files = as_bytes(HARBOR["greeting"])
    files["task.toml"] = f'schema_version = "{schema}"\n'.encode()
    assert read_harbor("greeting", files).steps[0].tests


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("task.toml", "no toml", "cannot be read"),
        ("task.toml", 'schema_version = "2.0"', "schema 2.0"),
        ("task.toml", "verifier = 3", "must be a table"),
        ("instruction.md", None, "no instruction.md"),
        ("tests/test.sh", None, "no tests/test.sh"),
    ],
)
def test_malformed_directories_are_named(path, text, words):
    files = as_bytes(HARBOR["greeting"])
    if text is None:
        del files[path]
    else:
        files[path] = text.encode()
    with pytest.raises(MalformedTask, match=words):
        read_harbor("greeting", files)


def test_unsupported_requirements_are_obstacles():
    files = as_bytes(HARBOR["greeting"])
    files["task.toml"] = (
        b'[environment]\nnetwork_mode = "public"\ngpus = 2\n[[environment.mcp_servers]]\nname="x"\n'
    )
    assert read_harbor("greeting", files).obstacles == (
        "a network (public)", "2 GPUs", "MCP servers",
    )  # fmt: skip


def test_terminal_bench_is_mapped():
    task = parse_files("count-lines", as_bytes(TERMINAL_BENCH["count-lines"]))
    step = task.steps[0]
    assert task.form == "terminal-bench" and task.difficulty == "easy"
    assert task.agent_seconds == 180.0 and step.seconds == 30.0
    assert step.instruction == "Write the number of lines of /app/data.txt to\n/app/count.txt."
    assert sorted(step.tests) == ["run-tests.sh", "test.sh", "test_outputs.py"]
    assert sorted(task.environment) == ["Dockerfile", "data.txt"]
    assert expected_tests(step) == ["test_outputs.py::test_count"]


def test_several_containers_are_an_obstacle():
    files = as_bytes(TERMINAL_BENCH["count-lines"])
    files["docker-compose.yaml"] = b"services:\n  client:\n    build: .\n  other:\n    image: x\n"
    assert parse_files("x", files).obstacles == ("several containers (client, other)",)


def test_the_yaml_of_task_files():
    read = read_yaml(TERMINAL_BENCH["swap-case"]["task.yaml"])
    assert read["instruction"] == (
        "Write an executable /app/swap that swaps the case of its standard input.\n"
    )
    assert read["tags"] == ["text", "shell"] and read["parser_name"] == "pytest"
    assert read_yaml("a: 'it''s'\nb: null\nc: -2.5\nd:\n- x\n- y\ne: true\n") == {
        "a": "it's", "b": None, "c": -2.5, "d": ["x", "y"], "e": True,
    }  # fmt: skip
    with pytest.raises(MalformedTask, match="line 2"):
        read_yaml("a: 1\n}{\n")


def test_a_dockerfile_is_parsed():
    recipe = read_dockerfile(HARBOR["inventory"]["environment/Dockerfile"])
    assert recipe.base == "python:3.11-slim" and recipe.workdir == "/srv"
    assert recipe.debian_packages == ("coreutils",) and not recipe.obstacles
    copies = [step for step in recipe.steps if isinstance(step, Copy)]
    runs = [step.command for step in recipe.steps if isinstance(step, Run)]
    assert copies == [Copy(("stock.txt",), "/srv/stock.txt")]
    assert runs == ["mkdir -p /srv", "sort -n stock.txt -o stock.txt && chmod 444 stock.txt"]


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("FROM nvidia/cuda:12\n", "the base image nvidia/cuda:12"),
        ("FROM debian:12 AS a\nFROM debian:12\n", "a build in several stages"),
        ("FROM debian\nUSER nobody\n", "the user nobody"),
        (
            "FROM debian\nADD https://example.invalid/x /x\n",
            "copying 'https://example.invalid/x /x'",
        ),
        (
            "FROM debian\nRUN --mount=type=cache,target=/x true\n",
            "the flag --mount=type=cache,target=/x",
        ),
        ("FROM debian\nONBUILD RUN x\n", "the instruction ONBUILD"),
    ],
)
def test_unsupported_dockerfile_instructions_are_obstacles(text, obstacle):
    assert read_dockerfile(text).obstacles == (obstacle,)


def test_dockerfile_variables_and_chains():
    recipe = read_dockerfile(
        "ARG V=12\nFROM debian:$V\nENV A=1 B='two words'\nENV C three\nWORKDIR /a\nWORKDIR b\n"
        "RUN apt-get update; apt-get install -y git=1:2.39 "
        "&& pip install --no-cache-dir PyYAML==6\n"
        'RUN if true; then echo x; fi\nRUN ["echo", "a b"]\n'
    )
    assert recipe.base == "debian:12" and recipe.workdir == "/a/b"
    assert recipe.variables == {"A": "1", "B": "two words", "C": "three"}
    assert recipe.debian_packages == ("git",) and recipe.python_packages == ("PyYAML==6",)
    runs = [step.command for step in recipe.steps if isinstance(step, Run)][2:]
    assert runs == ["if true; then echo x; fi", "echo 'a b'"]


def test_a_directory_becomes_a_source(tmp_path):
    name, task_id = directory_source(write_folder(tmp_path, "two_steps"))
    task = get_source(name).build(task_id)
    assert task.level == "hard" and task.instruction == "Write the number 3 to a.txt."
    assert [check.name for check in task.checks] == ["terminal_tests", "harbor_reward"]
    assert directory_source(tmp_path / "two_steps") == (name, task_id)
