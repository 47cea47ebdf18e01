"""`hexathlon terminal check` and `prefetch`: every directory gets an outcome and a reason."""

import json
import os
import subprocess
import sys

import pytest

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox import ladder
from hexathlon.envs.sandbox.image import SandboxImage
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.terminal.packages import debian_files, missing_debian, packages_folder
from hexathlon_cli.app import run
from support.task_folders import write_folder

SCRIPT = "#!/bin/bash\n{line}\necho {reward} > /logs/verifier/reward.txt\n"


@pytest.fixture(autouse=True)
def _sandbox():
    try:
        ladder.choose()
    except BackendMissing as error:
        pytest.skip(str(error))


def folders(root):
    """Write one directory for each outcome."""
    for name in ("module", "inventory", "count-lines", "old-log", "two_steps", "swap-case"):
        write_folder(root, name)
    (root / "inventory/solution/solve.sh").write_text("true\n")
    (root / "count-lines/solution.sh").unlink()
    (root / "old-log/Dockerfile").write_text(
        "FROM debian:12\nRUN apt-get install -y no-such-thing\n"
    )
    (root / "two_steps/steps/first/instruction.md").unlink()
    (root / "swap-case/run-tests.sh").write_text("curl -s http://host.invalid && pytest /tests\n")
    (root / "swap-case/solution.sh").write_text("getent hosts host.invalid\n")
    return root


def test_each_directory_has_its_outcome(tmp_path, capfd):
    out = tmp_path / "out.jsonl"
    assert run(["terminal", "check", str(folders(tmp_path / "set")), "--out", str(out)]) == 0
    shown = capfd.readouterr().out
    assert run(["terminal", "check", str(tmp_path / "set"), "--out", str(out)]) == 1
    assert "out.jsonl exists; name a new file" in capfd.readouterr().err
    results = {row["name"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert {name: row["outcome"] for name, row in results.items()} == {
        "module": "solved", "inventory": "unsolved", "count-lines": "runs",
        "old-log": "unsupported", "two_steps": "unreadable", "swap-case": "unsolved",
    }  # fmt: skip
    assert "lacks: no-such-thing" in results["old-log"]["detail"] and "no-such-thing" in shown
    assert "no steps/first/instruction.md" in results["two_steps"]["detail"]


def test_tests_that_need_a_network_are_told_apart(tmp_path, capfd):
    folder = write_folder(tmp_path, "greeting")
    line = "python3 -c 'import urllib.request as u; u.urlopen(\"http://host.invalid\")'"
    (folder / "tests/test.sh").write_text(SCRIPT.format(line=line, reward=0))
    assert run(["terminal", "check", str(folder), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)[0]["outcome"] == "network"


def test_an_empty_folder_is_a_usage_error(tmp_path, capfd):
    assert run(["terminal", "check", str(tmp_path)]) == 1
    assert "no directory with task.toml" in capfd.readouterr().err


def test_prefetch_lists_what_the_base_lacks(tmp_path, capfd):
    folder = write_folder(tmp_path, "greeting")
    (folder / "environment/Dockerfile").write_text(
        "FROM debian:12\nRUN apt-get install -y bash no-such-thing tmux\n"
        "RUN pip install pytest no-such-module==1\nWORKDIR /work\n"
    )
    (folder / "environment/needed.txt").write_text("# a list\nno-such-other>=2  # why\n")
    (folder / "tests/test.sh").write_text("pip install -r needed.txt\npytest /tests\n")
    assert run(["terminal", "prefetch", str(tmp_path), "--list"]) == 0
    shown = capfd.readouterr().out
    for name in ("no-such-thing", "no-such-module==1", "no-such-other>=2"):
        assert name in shown
    assert "tmux" not in shown and "pytest" not in shown and "bash" not in shown


def test_an_eval_goes_on_after_an_unsupported_directory(tmp_path):
    """In a process of its own, since a process reads HEXATHLON_DATA once."""
    for name in ("module", "greeting"):
        write_folder(tmp_path / "harbor", name)
    (tmp_path / "harbor/greeting/environment/Dockerfile").write_text("FROM scratch\n")
    words = ["eval", "agent:oracle", "--envs", "Terminal", "--taskset", "harbor", "--tasks", "0"]
    command = [sys.executable, "-m", "hexathlon", *words, "--out", str(tmp_path / "run")]
    environment = {**os.environ, "HEXATHLON_DATA": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2, done.stderr
    lines = (tmp_path / "run/records.jsonl").read_text().splitlines()
    records = {r["key"]["task"].split("/")[1]: r for r in map(json.loads, lines)}
    assert records["module"]["reward"] == 1.0
    assert records["greeting"]["cause"] == "unsupported" and records["greeting"]["attempt"] == 1
    assert "the base image scratch" in records["greeting"]["error"]


def test_packages_of_a_check_that_was_cut_off_count_as_missing():
    with ladder.choose().open(SandboxImage(), SandboxLimits()) as sandbox:
        assert missing_debian(sandbox, ["no-such-thing", "no-other"]) == [
            "no-such-thing", "no-other",
        ]  # fmt: skip
        assert missing_debian(sandbox, ["bash"]) == []
        sandbox.execute("command() { [ $2 = no-such-thing ] || exit; }")
        assert missing_debian(sandbox, ["no-such-thing", "bash-of-old"]) == [
            "no-such-thing", "bash-of-old",
        ]  # fmt: skip


def test_debian_packages_come_with_their_dependencies(tmp_path, monkeypatch):
    import shutil

    if shutil.which("dpkg-deb") is None:
        pytest.skip("no dpkg-deb")
    monkeypatch.setenv("HEXATHLON_PACKAGES", str(tmp_path))
    for name, depends in (("aa-tool", "aa-lib (>= 1) | other, bash"), ("aa-lib", "")):
        tree = tmp_path / "tree" / name
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "bin").mkdir()
        (tree / "bin" / name).write_text(f"#!/bin/sh\necho {name}\n")
        (tree / "bin" / name).chmod(0o755)
        more = f"Depends: {depends}\n" if depends else ""
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n{more}"
        )
        (tmp_path / "debs").mkdir(exist_ok=True)
        subprocess.run(["dpkg-deb", "-b", tree, tmp_path / "debs"], check=True, capture_output=True)
    assert packages_folder() == tmp_path
    assert sorted(debian_files(["aa-tool", "absent"])) == ["aa-lib", "aa-tool"]
    folder = write_folder(tmp_path, "greeting")
    (folder / "environment/Dockerfile").write_text(
        "FROM debian:12\nRUN apt-get install -y aa-tool\nWORKDIR /work\n"
    )
    line = "aa-tool && aa-lib && [ ! -L /usr/bin/aa-tool ]"
    script = f"#!/bin/bash\n{line} && echo 1 > /logs/verifier/reward.txt\n"
    (folder / "tests/test.sh").write_text(script)
    assert run(["terminal", "run", str(folder), "--agent", "noop", "--sandbox", "namespaces"]) == 0
