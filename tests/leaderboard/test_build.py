"""The built site: complete, linked, reproducible, and careful with existing files."""

import json
import os
import re
import time
import tracemalloc
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from hexathlon.leaderboard.build import BuildError, BuildOptions, build
from hexathlon.leaderboard.command import eval_command
from support.runs import make_run
from support.sites import index_of, lines_of


class Page(HTMLParser):
    """Collects a page's links, names, and executable parts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts: list[dict[str, str | None]] = []
        self.policy = ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.attributes.update(values)
        self.links += [values[name] for name in ("href", "src") if values.get(name)]
        if values.get("id"):
            self.names.add(values["id"])
        if tag == "script":
            self.scripts.append(values)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


@cache
def file_at(folder: Path, path: str) -> Path | None:
    """Return the file that a link's path leads to from a folder, None if there is none."""
    target = (folder / unquote(path)).resolve()
    return target if target.is_file() else None


def test_every_link_leads_somewhere_inside(site, pages):
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme and not parts.netloc, f"{path} links outside: {link}"
            target = file_at(path.parent, parts.path) if parts.path else path
            assert target is not None and target.is_relative_to(site), f"{path}: {link}"
            if parts.fragment and target in pages:
                assert parts.fragment in pages[target].names, f"{path}: {link}"


def test_every_page_forbids_what_it_does_not_need(pages):
    for path, page in pages.items():
        assert page.policy.startswith("default-src 'none'"), path
        assert "unsafe" not in page.policy
        assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
        for script in page.scripts:
            assert re.search(
                r"static/(site|show|pack|trials|trial|compare|points|changes|cast)\.js$",
                script.get("src") or "",
            )


def test_the_site_holds_every_record_byte_for_byte(site, site_runs):
    for run in site_runs:
        plan = json.loads((run / "plan.json").read_text())
        if run.name == "tampered":
            continue
        (folder,) = [
            path.parent
            for path in site.glob("runs/*/plan.json")
            if json.loads(path.read_text()) == plan
        ]
        assert b"".join(lines_of(folder)) == (run / "records.jsonl").read_bytes()
        index = index_of(folder)
        assert sorted(index["line"]) == list(range(1, len(lines_of(folder)) + 1))


def test_a_tampered_run_is_listed_with_its_fault_and_is_in_no_table(site):
    board = json.loads((site / "board.json").read_text())
    (rejected,) = board["rejected"]
    assert rejected["run"] == "tampered"
    assert "line " in rejected["reason"] and "'hash'" in rejected["reason"]
    assert "Rejected" in (site / "index.html").read_text()
    rows = [row for part in board["boards"] for row in part["rows"]]
    assert sum(row["name"] == "dune-3b" for row in rows) == 1


def test_only_replayed_runs_are_called_verified(site):
    board = json.loads((site / "board.json").read_text())
    rows = [row for part in board["boards"] for row in part["rows"]]
    assert {row["name"] for row in rows if row["verified"]} == {"oracle", "atlas-72b-instruct"}


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_same_runs_give_the_same_bytes(tmp_path):
    runs = [make_run(tmp_path / name, name, tasks=12) for name in ("oracle", "cirrus-8b")]
    for name in ("one", "two"):
        build(runs, tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_building_again_replaces_the_old_site_and_nothing_else(tmp_path):
    one = make_run(tmp_path / "one", "cirrus-8b", tasks=3)
    two = make_run(tmp_path / "two", "dune-3b", tasks=3)
    out = tmp_path / "site"
    assert build([one], out) == out / "index.html"
    build([two, two], out)
    assert [path.name.partition("-3b")[0] for path in (out / "runs").iterdir()] == ["dune"]
    with pytest.raises(BuildError, match="not a leaderboard"):
        build([one], one)
    with pytest.raises(BuildError, match="is a file"):
        build([one], one / "plan.json")
    with pytest.raises(BuildError, match="no run"):
        build([], out)
    assert (one / "records.jsonl").exists()


def test_directories_that_are_not_runs_are_rejected_by_name(tmp_path):
    (tmp_path / "nothing").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "plan.json").write_text("{}")
    index = build([tmp_path / "nothing", tmp_path / "odd"], tmp_path / "site")
    reasons = json.loads((tmp_path / "site" / "board.json").read_text())["rejected"]
    assert [entry["run"] for entry in reasons] == ["nothing", "odd"]
    assert str(tmp_path) not in index.read_text()
    assert "No submission" in index.read_text()


def test_memory_does_not_grow_with_the_records(tmp_path):
    def weigh(record):
        record["steps"][0]["observation"] = "x" * 100_000
        return record

    def peak(tasks):
        run = make_run(tmp_path / f"run{tasks}", "cirrus-8b", tasks=tasks, edit=weigh)
        tracemalloc.start()
        build([run], tmp_path / f"site{tasks}")
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(5)  # templates are compiled once
    assert peak(100) < peak(20) + 2_000_000


def test_progress_counts_every_submission(tmp_path):
    runs = [make_run(tmp_path / name, name, tasks=4) for name in ("cirrus-8b", "dune-3b")]
    seen = []
    build(runs, tmp_path / "site", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_the_command_spells_out_the_plan_without_secrets():
    plan = {
        "model": {"kind": "endpoint", "name": "m"},
        "limits": {"turns": 20, "cost": None},
        "config": {
            "model": "endpoint:http://user:secret@host/v1#it's a model",
            "envs": ["hexathlon/SQL-v1", "hexathlon/Web-v0"],
            "level": None,
            "split": "heldout",
            "tasks": 100,
            "task": [],
            "prompt_suffix": "",
            "sampling": {"temperature": 0.0, "top_p": None},
        },
    }
    assert eval_command(plan).replace(" \\\n ", "") == (
        "hexathlon eval 'endpoint:http://host/v1#it'\"'\"'s a model' "
        "--envs hexathlon/SQL-v1,hexathlon/Web-v0 --split heldout --tasks 100 --temperature 0.0 "
        "--limit-turns 20 --salt-file SALT --out runs/again"
    )


def test_the_command_has_no_text_that_a_shell_would_run():
    config = {"model": "m; id", "tasks; id": 1, "$(id)": "x", "sampling": "abc", "split": "`id`"}
    plan = {"config": config, "limits": {"turns|id": 2}}
    assert eval_command(plan).replace(" \\\n ", "") == (
        "hexathlon eval 'm; id' --split '`id`' --out runs/again"
    )


def test_a_second_build_repeats_no_finished_work(tmp_path):
    runs = [make_run(tmp_path / name, name, tasks=6) for name in ("oracle", "cirrus-8b")]
    added = make_run(tmp_path / "dune-3b", "dune-3b", tasks=6)
    out, cache = tmp_path / "site", tmp_path / "cache"
    options = BuildOptions(cache=cache)
    build(runs, out, options)
    kept = {path: path.stat().st_mtime_ns for path in cache.glob("runs/*/data/*")}
    build([*runs, added], out, options)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    again = contents(out)
    build([*runs, added], tmp_path / "fresh", BuildOptions(cache=tmp_path / "empty"))
    assert contents(tmp_path / "fresh") == again
    build([added], out, options)
    assert len(list(cache.glob("runs/*"))) == 1


def test_a_run_that_changed_is_read_again(tmp_path):
    run = make_run(tmp_path / "run", "cirrus-8b", tasks=6)
    build([run], tmp_path / "site")
    records = run / "records.jsonl"
    data, times = records.read_bytes(), records.stat()
    records.write_bytes(data.replace(b'"reward":1.0', b'"reward":0.5', 1))
    os.utime(records, ns=(times.st_atime_ns, times.st_mtime_ns))
    build([run], tmp_path / "site")
    (rejected,) = json.loads((tmp_path / "site" / "board.json").read_bytes())["rejected"]
    assert "line " in rejected["reason"]


@pytest.mark.slow
def test_ten_thousand_trajectories_in_a_minute(tmp_path):
    run = make_run(tmp_path / "run", "atlas-72b-instruct", tasks=10_000)
    start = time.process_time()
    build([run], tmp_path / "site")
    assert time.process_time() - start < 60
    (folder,) = (tmp_path / "site").glob("runs/*")
    assert len(lines_of(folder)) == 10_000
