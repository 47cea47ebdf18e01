"""Reading task directories: Harbor, Terminal-Bench 1, their Dockerfiles."""

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import directory_source
from hexathlon.tasks.terminal.dockerfile import Copy, Run, read_dockerfile
from hexathlon.tasks.terminal.harbor import MalformedTask, read_harbor
from hexathlon.tasks.terminal.opening import parse_files
from hexathlon.tasks.terminal.terminal_bench import read_yaml
from hexathlon.tasks.terminal.test_ids import expected_tests
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
        ("FROM debian:12\nCOPY --from=astral/uv /uv /bin/\n", "copying from the image astral/uv"),
        ("FROM scratch\n", "the base image scratch"),
        (
            "FROM debian\nADD https://example.invalid/x /x\n",
            "copying 'https://example.invalid/x /x'",
        ),
        (
            "FROM debian\nRUN --mount=type=secret,id=x true\n",
            "the flag --mount=type=secret,id=x",
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


DOCKERFILE = r"""# syntax=docker/dockerfile:1
ARG BASE=debian
FROM --platform=$BUILDPLATFORM ${BASE}:12 AS Builder
WORKDIR /src
RUN echo built > out

FROM $BASE:12
ENV APP_HOME=/srv/app \
    # a comment between
    MODE="a \"b\"" RAW='$HOME' \

    OTHER=${MISSING:-fallback}
ENV PATH=$APP_HOME/bin:$PATH
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN <<EOF
set -e
# not a comment of the Dockerfile
mkdir -p /srv/app
EOF
RUN cat <<'END' > /srv/app/a.txt && \
    echo done
$kept \
END
COPY <<"ONE" <<TWO /srv/app/
$raw
ONE
mode $MODE
TWO
COPY --from=builder --chown=app:staff --chmod=640 /src/out $APP_HOME/
ADD files.tar.gz /srv/
USER app
RUN id > who
HEALTHCHECK CMD true
"""


def test_a_dockerfile_with_all_that_builders_know():
    recipe = read_dockerfile(DOCKERFILE)
    assert recipe.obstacles == () and recipe.base == "debian:12" and recipe.user == "app"
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert recipe.variables == {
        "APP_HOME": "/srv/app", "MODE": 'a "b"', "RAW": "$HOME", "OTHER": "fallback",
        "PATH": f"/srv/app/bin:{path}",
    }  # fmt: skip
    script, lines, documents, staged, archive, last = recipe.steps
    assert isinstance(script, Run) and isinstance(lines, Run) and isinstance(last, Run)
    assert script.command == ("set -e\n# not a comment of the Dockerfile\nmkdir -p /srv/app\n")
    assert script.shell == ("/bin/bash", "-o", "pipefail", "-c")
    assert lines.command == ("cat <<'END' > /srv/app/a.txt &&     echo done\n$kept \\\nEND\n")
    assert documents == Copy(
        ("ONE", "TWO"), "/srv/app/", documents={"ONE": "$raw\n", "TWO": 'mode a "b"\n'}
    )
    assert staged == Copy(("/src/out",), "/srv/app/", 0o640, "app:staff", 0)
    assert isinstance(archive, Copy) and archive.unpack
    assert (last.command, last.user) == ("id > who", "app")
    assert recipe.stages[0].workdir == "/src"


@pytest.mark.parametrize(
    ("line", "debian", "python"),
    [
        ("apt-get install -y tmux asciinema jq=1.6 2>/dev/null", ("jq",), ()),
        ("DEBIAN_FRONTEND=noninteractive apt-get -qq install -y git", ("git",), ()),
        ("pip3 install --no-cache-dir pytest==8.4.1 'numpy>=2,<3'", (), ("numpy>=2,<3",)),
        ("python3 -m pip install -i https://host.invalid PyYAML[x]==6", (), ("PyYAML[x]==6",)),
        ("pip install --upgrade pip setuptools wheel", (), ()),
    ],
)  # fmt: skip
def test_installations_are_requirements(line, debian, python):
    recipe = read_dockerfile(f"FROM debian\nRUN {line}\n")
    assert (recipe.debian_packages, recipe.python_packages) == (debian, python)
    assert recipe.steps == ()


@pytest.mark.parametrize(
    "line",
    [
        "pip install -r requirements.txt", "pip install .",
        "for p in a b; do apt-get install $p; done", "apt-get install -y $(cat list)", "pip install git+https://host.invalid/x",
    ],
)  # fmt: skip
def test_installations_that_only_a_shell_understands_stay_steps(line):
    recipe = read_dockerfile(f"FROM debian\nRUN {line}\n")
    assert [step.command for step in recipe.steps if isinstance(step, Run)] == [line]


def test_test_ids_of_both_spellings_and_of_unittest():
    files = as_bytes(HARBOR["module"])
    del files["tests/test_adding.py"]
    files["tests/adding_test.py"] = (
        b"import unittest\nclass AddingTest(unittest.TestCase):\n    def test_a(self): ...\n"
        b"    def helper(self): ...\nclass Other:\n    def test_b(self): ...\ndef test_c(): ...\n"
    )
    assert expected_tests(read_harbor("module", files).steps[0]) == [
        "adding_test.py::AddingTest::test_a", "adding_test.py::test_c",
    ]  # fmt: skip
