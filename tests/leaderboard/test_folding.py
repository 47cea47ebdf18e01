"""Folding of repeated lines: byte for byte, and bounded."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.evaluators.records import RecordWriter, read_records
from hexathlon.evaluators.records.plan import write_plan
from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.folding import FOLDED, fold, unfold
from hexathlon.leaderboard.packing import packed_text, unpacked_text
from support.runs import make_run

LINES = st.lists(st.sampled_from(["", "a", "the same long line", "another long line", "\\n"]))


def chunk(observations: list[str]) -> bytes:
    return b"".join(json.dumps({"observation": one}).encode() + b"\n" for one in observations)


@given(st.lists(LINES.map("\n".join), max_size=6))
def test_folded_chunks_unfold_to_the_same_bytes(observations: list[str]) -> None:
    data = chunk(observations)
    assert unfold(fold(data)) == data
    assert unpacked_text(packed_text("records", fold(data))) == data


def test_screens_that_come_again_are_folded() -> None:
    screen = "\n".join(f"row {n}: {n * 7919 % 1000}" for n in range(400))
    data = chunk([screen, "nothing", screen])
    folded = fold(data)
    assert folded[:1] == FOLDED and len(folded) < 0.6 * len(data)
    assert unfold(folded) == data


@given(st.text("\\n{a", max_size=30), st.integers(0, 900))
def test_chunks_are_folded_from_one_escaped_newline_in_200_bytes(text: str, more: int) -> None:
    data = text.encode() + more * b"-"
    assert (fold(data)[:1] == FOLDED) == (200 * data.count(b"\\n") > len(data))


@pytest.mark.parametrize("data", [b"", b'{"observation":"short"}\n', b"a\\nb\\n\x01\\n"])
def test_other_chunks_stay_as_they_are(data: bytes) -> None:
    assert fold(data) == data and unfold(data) == data


@pytest.mark.parametrize("reference", [b"2,1", b"0,1", b"x,1", b"1", b"1,", b"-1,1"])
def test_references_that_lead_nowhere_are_refused(reference: bytes) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        unfold(FOLDED + b"line\\n\x01" + reference)


def test_bombs_are_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        unfold(FOLDED + b"x" * 100 + b"\\n\x011,99999999999", longest=10_000)


@pytest.mark.browser
def test_the_trajectory_page_unfolds_them(browser: Any, tmp_path: Path) -> None:
    clean = make_run(tmp_path / "clean", "atlas-72b-instruct", tasks=3, trials=1)
    digest = write_plan(tmp_path / "run", json.loads((clean / "plan.json").read_text()))
    screen = "\n".join(f"row {n}: {n * 7919 % 1000} \u00fc" for n in range(300))
    with RecordWriter(tmp_path / "run", digest, fsync="never") as writer:
        for record in read_records(clean):
            steps = [{**one, "observation": screen} for one in record["steps"]]
            writer.append({**record, "steps": steps})
    build([tmp_path / "run"], tmp_path / "site")
    (chunk,) = tmp_path.glob("site/runs/*/data/records-*.js")
    assert len(chunk.read_bytes()) < 10_000 < len(screen.encode()) * 3
    page = browser.new_page()
    page.goto(next(tmp_path.glob("site/runs/*/trial.html")).as_uri() + "#3")
    page.locator(".trajectory pre").filter(has_text="row 299: 781 \u00fc").first.wait_for(
        state="attached"
    )
    page.close()
