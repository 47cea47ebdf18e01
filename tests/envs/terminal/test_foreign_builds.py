"""Dockerfiles of other makers, built and worked in, in the namespaces backend."""

import io
import sys
import tarfile
import zipfile
from pathlib import Path

import gymnasium
import pytest

from hexathlon.envs.errors import TaskUnsupported
from hexathlon.envs.sandbox import ladder
from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import DirectorySource, directory_source
from support.task_folders import write_folder
from support.terminal import act, commands, play

TESTS = (
    "#!/bin/bash\n{line} && echo 1 > /logs/verifier/reward.txt || "
    "echo 0 > /logs/verifier/reward.txt\n"
)


@pytest.fixture
def env():
    probe = ladder.backend("namespaces").probe()
    if not probe.available or not probe.properties["owners"]:
        pytest.skip(f"namespaces with several users: {probe.reason}")
    made = gymnasium.make("hexathlon/Terminal-v1", sandbox="namespaces").unwrapped
    assert isinstance(made, TerminalEnv)
    yield made
    made.close()


def made(root: Path, dockerfile: str, **files: str | bytes) -> str:
    """Write a directory with this Dockerfile and return its task id."""
    folder = write_folder(root, "greeting")
    (folder / "environment/Dockerfile").write_text(dockerfile)
    for name, data in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return directory_source(folder)[1]


def seen(env: TerminalEnv, task_id: str, command: str) -> str:
    """Return what an agent's first command shows."""
    env.reset(seed=0, options={"task": task_id})
    return env.step(act("run", command=command))[0]


def test_root_as_in_a_container(env, tmp_path):
    task = made(
        tmp_path,
        "FROM ubuntu:24.04\n"
        "RUN ln -s /usr/bin/python3 /usr/bin/python && useradd -m -s /bin/bash app\n"
        "RUN mkdir -p /srv/data /srv/other && chown -R app:www-data /srv/data\n"
        "RUN su app -c 'id -un > /srv/data/who' && install -o nobody -m 640 /etc/hosts /srv/copy\n"
        "RUN tar -C /srv -cf /srv/a.tar data && rm -r /srv/data && tar -C /srv -xf /srv/a.tar\n"
        "RUN update-alternatives --install /usr/bin/py3 py3 /usr/bin/python3 1\nWORKDIR /work\n",
    )
    shown = seen(
        env, task, "python -c 'print(6 * 7)'; py3 -V | cut -c1-8; cat /srv/data/who; "
        "stat -c '%U:%G' /srv/data/who; stat -c '%U %a' /srv/copy; su app -c 'id -un'; id -un"
    )  # fmt: skip
    assert shown.splitlines()[:7] == [
        "42", "Python 3", "app", "app:app", "nobody 640", "app", "root",
    ], shown  # fmt: skip


def test_stages_documents_archives_owners_and_users(env, tmp_path):
    store = io.BytesIO()
    with tarfile.open(fileobj=store, mode="w:gz") as archive:
        member = tarfile.TarInfo("packed/one.txt")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"one\n"))
    task = made(
        tmp_path,
        "FROM debian:12 AS build\nWORKDIR /src\nCOPY *.c ./\nRUN gcc -o prog prog.c\n"
        "FROM debian:12\nRUN useradd -m app\nCOPY --from=build /src/prog /usr/bin/prog\n"
        "COPY --chown=app one.txt /srv/app/\nADD files.tar.gz /srv/\nWORKDIR /work\n"
        "COPY <<EOF note.txt\nhome of $HOME is ${UNSET:-nowhere}\nEOF\n"
        "RUN <<EOF\nset -e\nfor n in 1 2; do\n  echo $n >> /srv/numbers\ndone\n"
        "chown app /work\nEOF\n"
        "USER app\nRUN touch mine\n",
        environment__one_DOT_txt="1\n",
        environment__prog_DOT_c='#include <stdio.h>\nint main(void) { puts("compiled"); }\n',
        environment__files_DOT_tar_DOT_gz=store.getvalue(),
    )
    shown = seen(
        env, task, "prog; cat /srv/packed/one.txt /srv/numbers note.txt; "
        "stat -c %U /srv/app/one.txt mine; id -un; echo $HOME; touch /srv/x"
    )  # fmt: skip
    assert shown.splitlines()[:9] == [
        "compiled", "one", "1", "2", "home of  is nowhere", "app", "app", "app", "/home/app",
    ], shown  # fmt: skip
    assert "Permission denied" in shown


def test_the_grader_keeps_new_commands_and_drops_replaced_ones(env, tmp_path):
    line = (
        '[ "$(greet)" = hello ] && [ "$(stat -c %U /srv/f)" = app ] '
        "&& ! cat /etc/os-release | grep -q forged"
    )
    task = made(
        tmp_path,
        "FROM debian:12\nRUN useradd app\nWORKDIR /work\n",
        tests__test_DOT_sh=TESTS.format(line=line),
    )
    honest = [
        "printf '#!/bin/sh\\necho hello\\n' > /usr/bin/greet; chmod +x /usr/bin/greet",
        "touch /srv/f; chown app /srv/f",
    ]
    forged = "printf '#!/bin/sh\\necho forged\\n' | tee /usr/bin/cat > /usr/bin/stat"
    assert play(env, task, commands(honest))[0] == 1.0
    assert play(env, task, commands([*honest, forged]))[0] == 1.0
    for shadow in ("/usr/sbin/stat", "/usr/bin/test", "/usr/lib/python3.11/os.py"):
        trick = f"printf '#!/bin/sh\\necho app\\n' > {shadow}; chmod +x {shadow}"
        assert play(env, task, commands([honest[0], "touch /srv/f", trick]))[0] == 0.0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("RUN for p in no-such-thing; do apt-get install -y $p; done", "lacks: no-such-thing"),
        ("RUN echo no-such-module > r && pip install -r r", "lacks: no-such-module"),
        ("RUN apt-get install -y no-such-thing tmux", "lacks: no-such-thing"),
        ("RUN pip install no-such-module==1.0 pytest", "no-such-module==1.0"),
        ("RUN curl -fsS https://host.invalid/x -o /x", "the build has no network"),
        ("COPY --from=some/image /a /b", "copying from the image some/image"),
        ("COPY absent.txt /", "copies 'absent.txt', which does not exist"),
    ],
)
def test_what_cannot_be_built_is_named(env, tmp_path, line, reason):
    task = made(tmp_path, f"FROM debian:12\n{line}\nWORKDIR /work\n")
    with pytest.raises(TaskUnsupported, match=reason):
        env.reset(seed=0, options={"task": task})


def test_recorders_and_pytest_are_never_needs(env, tmp_path):
    task = made(
        tmp_path,
        "FROM debian:12\nRUN apt-get update && apt-get install -y asciinema tmux python3-pip\n"
        "RUN pip install pytest==8.4.1 pytest-cov\nWORKDIR /work\n",
    )
    source = get_source(task.split("/")[0])
    assert play(env, task, source.oracle(source.build(task)))[0] == 1.0


def test_wheels_of_the_users_folder_are_installed(env, tmp_path, monkeypatch):
    monkeypatch.setenv("HEXATHLON_PACKAGES", str(tmp_path / "packages"))
    wheel = tmp_path / "packages/wheels/hexathlon_sample-1.0-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    info = "hexathlon_sample-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("hexathlon_sample.py", "WORD = 'wheel'\n\ndef main():\n    print(WORD)\n")
        file.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: hexathlon-sample\nVersion: 1.0\n"
        )
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(
            f"{info}/entry_points.txt", "[console_scripts]\nsample=hexathlon_sample:main\n"
        )
        file.writestr(f"{info}/RECORD", "")
    line = "python3 -c 'import hexathlon_sample; assert hexathlon_sample.WORD == \"wheel\"'"
    task = made(
        tmp_path, "FROM debian:12\nRUN pip install hexathlon-sample==1.0\nWORKDIR /work\n",
        tests__test_DOT_sh=TESTS.format(line=line),
    )  # fmt: skip
    try:
        shown = seen(env, task, "sample; touch /opt/packages/python/x")
    except TaskUnsupported as error:
        if "No module named pip" in str(error):
            pytest.skip(f"{sys.executable} has no pip")
        raise
    assert shown.startswith("wheel\n") and "Read-only" in shown and str(tmp_path) not in shown
    assert play(env, task, commands([]))[0] == 1.0


def test_unreached_tests_are_a_fault_if_the_solution_does_not_reach_them(env, tmp_path):
    tests = {"tests__test_outputs_DOT_py": "def test_it():\n    assert True\n"}
    script = "#!/bin/bash\nset -e\n{line}\npytest /tests/test_outputs.py\n"
    script += "echo 1 > /logs/verifier/reward.txt\n"
    wrapped = (
        "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\nbash /tests/run.sh || true\n# pytest\n"
    )
    for number, (line, status) in enumerate(
        [("no-such-program", "unscored"), ("test -e greeting.txt", "scored")]
    ):
        task = made(
            tmp_path / str(number), "FROM debian:12\nWORKDIR /work\n", **tests,
            tests__test_DOT_sh=wrapped, tests__run_DOT_sh=script.format(line=line),
        )  # fmt: skip
        reward, state = play(env, task, commands([]))
        assert (reward, env.verdict().status) == (0.0, status), state


def test_directories_that_cannot_be_read_are_named_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    write_folder(tmp_path / "harbor", "greeting")
    (write_folder(tmp_path / "harbor", "module") / "instruction.md").unlink()
    source = DirectorySource("harbor")
    with pytest.warns(UserWarning, match="1 of 2 directories .* no instruction.md"):
        assert source.size("test") == 1
    assert list(source.left_out) == ["module"]


def test_tests_are_copied_only_by_a_step_that_names_them(env, tmp_path):
    folder = write_folder(tmp_path, "count-lines")
    for step, seen_inside in (("COPY . /app/", "0\n"), ("COPY tests /app/tests/", "1\n")):
        (folder / "Dockerfile").write_text(
            f"FROM debian:12\n{step}\nCOPY data.txt /app/\nWORKDIR /app\n"
        )
        shown = seen(env, directory_source(folder)[1], "ls /app/tests 2>/dev/null | wc -l; ls /app")
        assert shown.startswith(seen_inside) and "solution.sh" not in shown, shown
