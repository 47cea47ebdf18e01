"""A built site of fictitious runs, and a real browser to view it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.leaderboard.build import BuildOptions, build
from support.runs import make_run, make_runs

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def site_runs(tmp_path_factory) -> list[Path]:
    """Runs of all fictitious agents, one unfinished, one tampered with."""
    folder = tmp_path_factory.mktemp("runs")
    runs = make_runs(folder, tasks=80, trials=2)
    runs.append(make_run(folder / "partial", "ember-1.5b", tasks=80, trials=2, write=0.6))
    tampered = make_run(folder / "tampered", "dune-3b", tasks=80, trials=2)
    records = tampered / "records.jsonl"
    before, after = b'"reward":0.0,"sandbox"', b'"reward":1.0,"sandbox"'
    assert before in records.read_bytes()
    records.write_bytes(records.read_bytes().replace(before, after, 1))
    return [*runs, tampered]


@pytest.fixture(scope="session")
def site(site_runs, tmp_path_factory) -> Path:
    """The built site; the oracle's and one other run count as replayed."""
    out = tmp_path_factory.mktemp("site") / "site"
    verified = [run for run in site_runs if run.name in ("oracle", "atlas-72b-instruct")]
    build(site_runs, out, BuildOptions(verified=verified))
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Headless Chromium; the test is skipped if unavailable.

    Not session-scoped: while it runs, no other test can start an event loop here.
    """
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (extra: web)"
    )
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: chromium-headless-shell)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()
