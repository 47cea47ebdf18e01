"""Submissions that reach for the pytest of a task's own tests, and for the tools they call."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import directory_source
from support.task_folders import write_folder
from support.terminal import commands, play

FORGE = (
    "import json, os\n"
    "os.makedirs('/logs/verifier', exist_ok=True)\n"
    "open('/logs/verifier/reward.txt', 'w').write('1')\n"
    "names = ['test_sum.py::test_sum', 'test_sum.py::test_text']\n"
    "json.dump([[n, 'passed'] for n in names], open('/hexathlon/outcomes.json', 'w'))\n"
    "os._exit(0)\n"
)
PLUGIN = (
    "import pytest\n"
    "@pytest.hookimpl(hookwrapper=True)\n"
    "def pytest_runtest_makereport(item, call):\n"
    "    outcome = yield\n"
    "    if call.when == 'call': outcome.get_result().outcome = 'passed'\n"
    "def pytest_sessionfinish(session):\n"
    "    session.exitstatus = 0\n"
)
HOME = "/" + "root"
SITE = "/usr/local/lib/python3.11/dist-packages"
CACHED = (
    "cat > /tmp/evil.py <<'E'\n" + FORGE + "E\n"
    "cat > /tmp/cache.py <<'E'\nimport marshal, os, struct, sys, importlib.util\n"
    "code = compile(open('/tmp/evil.py').read(), sys.argv[1], 'exec')\n"
    "status = os.stat(sys.argv[1])\n"
    "head = importlib.util.MAGIC_NUMBER + b'\\0' * 4 + struct.pack('<II', int(status.st_mtime), "
    "status.st_size)\n"
    "folder, name = os.path.split(sys.argv[1])\n"
    "os.makedirs(folder + '/__pycache__', exist_ok=True)\n"
    "for tail in sys.argv[2:]:\n"
    "    place = f'{folder}/__pycache__/{name[:-3]}.cpython-311{tail}.pyc'\n"
    "    open(place, 'wb').write(head + marshal.dumps(code))\nE\n"
)


def written(path: str, text: str) -> str:
    """A command that writes a file."""
    return f"mkdir -p $(dirname {path}); cat > {path} <<'E'\n{text}E"


MODULE = "python3 -m pytest /tests/test_sum.py -q"
OPTIONS = "python3 -W ignore -Bm pytest /tests/test_sum.py -q"
PLAIN = "pytest /tests/test_sum.py -q"
LOCAL = "cp /tests/test_sum.py /proj/tests/test_sum.py; pytest /proj/tests/test_sum.py -q"

ATTACKS: dict[str, tuple[str, list[str]]] = {
    "a package in the working directory": (
        MODULE, [written("/proj/pytest/__main__.py", FORGE), "touch /proj/pytest/__init__.py"],
    ),
    "a compiled module in the working directory": (
        MODULE, [written("/tmp/p.py", FORGE), "python3 -c \"import py_compile; "
                 "py_compile.compile('/tmp/p.py', '/proj/pytest.pyc')\""],
    ),
    "the standard library in the working directory": (
        MODULE, [written(f"/proj/{name}.py", FORGE)
                 for name in ("argparse", "inspect", "pdb", "unittest", "doctest", "tempfile")],
    ),
    "one module of the standard library": (
        MODULE, ["printf 'import os\\nos._exit(0)\\n' > /proj/argparse.py"],
    ),
    "the standard library, and options before -m": (
        OPTIONS, [written(f"/proj/{name}.py", FORGE) for name in ("argparse", "inspect", "pdb")],
    ),
    "settings behind a link": (
        PLAIN, [written("/proj/notes.txt", '[tool.pytest.ini_options]\naddopts = "-p evil"\n'
                        'pythonpath = ["/proj"]\n'), "ln -s /proj/notes.txt /pyproject.toml",
                written("/proj/evil.py", PLUGIN)],
    ),
    "settings with an escaped name": (
        PLAIN, [written("/pyproject.toml", '[tool."\\u0070ytest".ini_options]\n'
                        'addopts = "-p evil"\npythonpath = ["/proj"]\n'),
                written("/proj/evil.py", PLUGIN)],
    ),
    "settings beside the tests": (
        LOCAL, [written("/proj/tests/pyproject.toml", '[tool."p\\u0079test".ini_options]\n'
                        'addopts = "-p evil"\npythonpath = ["/proj"]\n'),
                written("/proj/evil.py", PLUGIN)],
    ),
    "a compiled conftest": (LOCAL, [CACHED, "python3 /tmp/cache.py /proj/tests/conftest.py ''"]),
    "a conftest compiled by pytest": (
        LOCAL,
        [CACHED, "python3 /tmp/cache.py /proj/tests/conftest.py -pytest-{7,8,9}.{0..5}.{0..5}"],
    ),
    "a directory without its conftest": (
        LOCAL, ["rm -rf /proj/tests; mkdir /proj/tests"],
    ),
    "a conftest that is a directory": (
        LOCAL, ["rm /proj/tests/conftest.py; mkdir /proj/tests/conftest.py; "
                "touch /proj/tests/conftest.py/x"],
    ),
    "a conftest behind a linked directory": (
        LOCAL,
        [written("/opt/t/conftest.py", FORGE), "rm -rf /proj/tests; ln -s /opt/t /proj/tests"],
    ),
    "entry points": (
        PLAIN, [written(f"{SITE}/evil-1.dist-info/entry_points.txt", "[pytest11]\nevil = evil\n"),
                written(f"{SITE}/evil-1.dist-info/METADATA", "Name: evil\nVersion: 1\n"),
                written(f"{SITE}/evil.py", PLUGIN)],
    ),
    "start-up modules": (
        MODULE, [written(f"{SITE}/{name}", FORGE) for name in
                 ("sitecustomize/__init__.py", "usercustomize/__init__.py", "a.pth")]
        + [written(f"{HOME}/.local/lib/python3.11/site-packages/{name}", FORGE)
           for name in ("usercustomize.py", "sitecustomize.py", "a.pth")],
    ),
    "modules that pytest tries to import": (
        PLAIN, [written(f"{SITE}/{name}.py", FORGE) for name in
                ("typing_extensions", "exceptiongroup", "argcomplete", "colorama", "attr", "py",
                 "twisted", "backports", "readline", "importlib_metadata", "tomli", "xdist")],
    ),
    "modules over pytest's own": (
        MODULE, [written(f"{SITE}/{name}/__init__.py", FORGE)
                 for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")],
    ),
    "alternatives": (
        f"{PLAIN}; code=$?; awk 'BEGIN {{ exit 1 }}' && code=0; (exit $code)",
        ["rm /etc/alternatives/awk; ln -s /bin/true /etc/alternatives/awk"],
    ),
    "perl": (
        f"{PLAIN}; code=$?; perl -e 'use strict; exit 1' && code=0; (exit $code)",
        [written("/etc/perl/strict.pm", "package strict; exit 0; 1;\n")],
    ),
    "git": (
        f"{PLAIN}; code=$?; (cd /tmp && git init -q g && git -C g status >/dev/null); (exit $code)",
        [written("/etc/gitconfig", "[core]\nfsmonitor = /proj/hook\n"),
         written("/proj/hook", "#!/bin/sh\necho 1 > /logs/verifier/reward.txt; "
                 "chmod 444 /logs/verifier/reward.txt\n"), "chmod +x /proj/hook"],
    ),
    "variables": (
        PLAIN, [written("/etc/environment", 'PYTEST_ADDOPTS="-p evil"\nPYTHONPATH=/proj\n'),
                written(f"{HOME}/.pam_environment", "PYTEST_ADDOPTS=--co\n"),
                "export PYTEST_ADDOPTS=--co PYTHONPATH=/proj BASH_ENV=/proj/env ENV=/proj/env"],
    ),
    "locales and loaders": (
        PLAIN, [written("/etc/ld.so.conf.d/0.conf", "/proj/lib\n"), "ldconfig 2>/dev/null; true",
                "mkdir -p /usr/lib/locale/C.UTF-8; cp /bin/true /usr/local/bin/python3; "
                "cp /bin/true /usr/local/bin/pytest; cp /bin/true /usr/local/sbin/bash"],
    ),
}  # fmt: skip

SLIPS = ("a conftest that is a directory",)
"""These make the files impossible to lay out; the others are judged as if they were not there."""


@pytest.fixture
def env(backend_name: str) -> Iterator[TerminalEnv]:
    made = TerminalEnv(sandbox=backend_name)
    yield made
    made.close()


def task_of(folder: Path, run: str) -> str:
    """A task whose tests need a file of the agent's, and a conftest that the image has."""
    made = write_folder(folder, "greeting")
    (made / "environment/conftest.py").write_text("import builtins\nbuiltins.strict = True\n")
    (made / "environment/Dockerfile").write_text(
        "FROM python:3.11-slim\nWORKDIR /proj\nCOPY conftest.py /proj/tests/conftest.py\n"
    )
    strict = "    assert getattr(builtins, 'strict', False)\n" if "/proj/tests" in run else ""
    (made / "tests/test_sum.py").write_text(
        "import builtins\nfrom pathlib import Path\n\n\n"
        "def test_sum():\n    assert Path('/proj/sum.txt').read_text() == '7\\n'\n\n\n"
        f"def test_text():\n    assert Path('/proj/text.txt').exists()\n{strict}"
    )
    (made / "tests/test.sh").write_text(
        f"#!/bin/bash\nmkdir -p /logs/verifier /proj/tests\n{run}\n"
        "if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; "
        "else echo 0 > /logs/verifier/reward.txt; fi\n"
    )
    (made / "solution/solve.sh").write_text("echo 7 > sum.txt; touch text.txt\n")
    source, task_id = directory_source(made)
    return get_source(source).build(task_id).id


@pytest.mark.parametrize("name", ATTACKS)
def test_steering_earns_nothing(env: TerminalEnv, tmp_path: Path, name: str) -> None:
    run, lines = ATTACKS[name]
    task = task_of(tmp_path, run)
    reward, state = play(env, task, commands(lines))
    assert reward == 0.0
    assert env.verdict().status == "scored", state
    (step,) = state["steps"]
    if name not in SLIPS:
        assert step["reward"] == {"reward": 0.0}, step
        assert dict(step["tests"])["test_sum.py::test_sum"] == "failed", step


ALTERED = ("a conftest behind a linked directory",)
"""What this leaves is not a directory for tests, whoever did it."""


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in (*SLIPS, *ALTERED)])
def test_the_work_is_judged_as_if_nothing_steered(
    env: TerminalEnv, tmp_path: Path, name: str
) -> None:
    run, lines = ATTACKS[name]
    task = task_of(tmp_path, run)
    reward, state = play(
        env, task, commands([*lines, "cd /proj; echo 7 > sum.txt; touch text.txt"])
    )
    assert reward == 1.0, state
