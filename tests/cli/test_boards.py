"""The commands `submit` and `leaderboard add | verify | rerun | ledger | unpack` on real runs."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hexathlon.tasks.taskset import commitment
from hexathlon_cli.app import run
from support.forger import Forger

pytest.importorskip("cryptography", reason="cryptography is not installed (extra: submit)")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A key, a run of a noisy oracle, its submission, and a board with it."""
    folder = tmp_path_factory.mktemp("boards")
    line = ["eval", "agent:noisy:0.3", "--envs", "SQL", "--tasks", "6", "--level", "tiny"]
    assert run([*line, "--out", str(folder / "run")]) == 0
    assert run(["submit", "key", str(folder / "key")]) == 0
    line = ["submit", "prepare", str(folder / "run"), "--organisation", "North"]
    line += ["--trained-on", "none", "--key", str(folder / "key")]
    assert run([*line, "--out", str(folder / "submissions")]) == 0
    (submission,) = (folder / "submissions").iterdir()
    line = ["leaderboard", "add", str(folder / "board"), str(submission), "--by", "maintainers"]
    assert run([*line, "--key", str(folder / "key")]) == 0
    return folder


def test_a_board_is_verified_printed_and_built(made, tmp_path, capsys):
    board = str(made / "board")
    assert run(["leaderboard", "verify", board]) == 0
    assert "1 rows replayed" in capsys.readouterr().out
    assert run(["leaderboard", "ledger", board]) == 0
    assert "added" in capsys.readouterr().out
    assert run(["leaderboard", "build", board, "--verify", "--out", str(tmp_path / "site")]) == 0
    (shown,) = json.loads((tmp_path / "site" / "board.json").read_bytes())["boards"]
    (row,) = shown["rows"]
    assert row["team"] == "North" and row["verified"]
    (folder,) = (tmp_path / "site" / "runs").iterdir()
    assert run(["leaderboard", "unpack", str(folder), "--out", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == (
        made / "run" / "records.jsonl"
    ).read_bytes()
    assert run(["verify", str(tmp_path / "run")]) == 0
    assert run(["leaderboard", "unpack", str(tmp_path), "--out", str(tmp_path / "x")]) == 1


def test_a_forged_run_is_refused_by_replay(made, tmp_path, capsys):
    forger = Forger(Path(shutil.copytree(made / "run", tmp_path / "run")))
    record = forger.first(lambda one: one["reward"] == 0.0)
    record["reward"] = record["steps"][-1]["reward"] = 1.0
    forged = forger.save()
    out = tmp_path / "submissions"
    line = ["submit", "prepare", str(forged), "--organisation", "South", "--trained-on", "none"]
    assert run([*line, "--out", str(out)]) == 0
    (submission,) = out.iterdir()
    board = str(tmp_path / "board")
    assert run(["leaderboard", "add", board, str(submission), "--by", "us"]) == 3
    assert "replay: " in capsys.readouterr().err
    assert not (tmp_path / "board" / "ledger.jsonl").exists()


def test_a_rerun_is_compared_signed_and_written_down(made, tmp_path, capsys):
    (folder,) = (made / "board" / "submissions").iterdir()
    line = ["leaderboard", "rerun", str(made / "board"), folder.name, "--by", "South"]
    assert run([*line, "--out", str(tmp_path / "again"), "--key", str(made / "key")]) == 0
    assert "0 changed" in capsys.readouterr().out
    roles = [one["role"] for one in json.loads((folder / "signatures.json").read_bytes())]
    assert roles == ["submitter", "rerun"]
    last = json.loads((made / "board" / "ledger.jsonl").read_bytes().splitlines()[-1])
    assert (last["event"], last["why"]) == ("re-run", "consistent")
    assert run(["leaderboard", "verify", str(made / "board"), "--no-replay"]) == 0
    site = tmp_path / "site"
    assert run(["leaderboard", "build", str(made / "board"), "--out", str(site)]) == 0
    assert "on 6 tasks, 0 changed" in (site / "ledger.html").read_text("utf-8")


def test_a_secret_is_revealed_only_after_its_hash_was_published(tmp_path):
    (tmp_path / "salt").write_text("c0ffee" * 8)
    board, salt = str(tmp_path / "board"), ["--salt-file", str(tmp_path / "salt"), "--by", "us"]
    (tmp_path / "board").mkdir()
    assert run(["leaderboard", "reveal", board, *salt]) == 1
    assert run(["leaderboard", "commit", board, *salt]) == 0
    assert run(["leaderboard", "reveal", board, *salt]) == 0
    lines = [
        json.loads(line) for line in (tmp_path / "board" / "ledger.jsonl").read_text().splitlines()
    ]
    assert [line["event"] for line in lines] == ["committed", "revealed"]
    assert "secret" not in lines[0]["details"] and lines[1]["details"]["secret"]


def test_the_board_of_a_held_out_round_shows_its_commitment_and_its_secret(tmp_path):
    (tmp_path / "salt").write_text("c0ffee" * 8)
    (tmp_path / "board").mkdir()
    board, salt = str(tmp_path / "board"), ["--salt-file", str(tmp_path / "salt")]
    line = ["eval", "agent:noisy:0.3", "--envs", "SQL", "--tasks", "3", "--level", "tiny"]
    assert run([*line, "--split", "heldout", *salt, "--out", str(tmp_path / "run")]) == 0
    line = ["submit", "prepare", str(tmp_path / "run"), "--organisation", "North"]
    assert run([*line, "--trained-on", "none", "--out", str(tmp_path / "submissions")]) == 0
    (submission,) = (tmp_path / "submissions").iterdir()

    def page() -> str:
        line = ["leaderboard", "build", board, "--verify", *salt, "--out", str(tmp_path / "site")]
        assert run(line) == 0
        (path,) = (tmp_path / "site" / "boards").glob("*.html")
        return path.read_text("utf-8")

    line = ["leaderboard", "add", board, str(submission), "--by", "us", *salt]
    assert run(line) == 0
    digest = commitment("c0ffee" * 8)
    assert digest in page() and "does not have the hash" in page()
    assert run(["leaderboard", "commit", board, *salt, "--by", "us"]) == 0
    assert 'href="../ledger.html#line-2"' in page() and "not revealed yet" in page()
    assert run(["leaderboard", "reveal", board, *salt, "--by", "us"]) == 0
    assert 'href="../ledger.html#line-3"' in page() and "not revealed yet" not in page()
    ledger = (tmp_path / "site" / "ledger.html").read_text("utf-8")
    assert 'id="line-3"' in ledger and "c0ffee" * 8 in ledger and ledger.count(digest) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["python3.12", "python3.13"])
def test_a_submission_verifies_under_another_python(made, tmp_path, name):
    """A fresh virtual environment of another version, with the core and the extra `submit`."""
    program = os.environ.get("OTHER_PYTHON") or shutil.which(name)
    if program is None or name not in program:
        pytest.skip(f"no {name} on this machine")
    root = Path(__file__).resolve().parents[2]
    place = tmp_path / "venv"
    subprocess.run([program, "-m", "venv", str(place)], check=True)
    install = [str(place / "bin" / "pip"), "install", "-q", "-c", str(root / "constraints.txt")]
    subprocess.run([*install, f"{root}[submit]"], check=True)
    command = [str(place / "bin" / "hexathlon"), "leaderboard", "verify", str(made / "board")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 rows replayed" in done.stdout
