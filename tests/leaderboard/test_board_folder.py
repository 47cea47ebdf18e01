"""Submissions, signatures and the ledger: what is accepted, what is refused and where."""

import json
import shutil
import stat
import zipfile
from pathlib import Path

import jsonschema
import pytest

from hexathlon.evaluators.records.canonical import canonical_bytes, content_hash
from hexathlon.leaderboard.build import BuildOptions, build
from hexathlon.leaderboard.entry import EntryError, json_schema, parse_submission
from hexathlon.leaderboard.intake import BoardFolder, IntakeError, LedgerFault, read_entry
from hexathlon.leaderboard.preparing import prepare
from hexathlon.leaderboard.signing import check_signature, make_key, sign
from support.runs import make_run

STATED = {
    "organisation": "North",
    "tuned": False,
    "training_data": {"benchmark": "none"},
    "model": {"name": "cirrus-8b", "open_weights": True},
}
DAY = {"by": "maintainers", "date": "2026-11-24"}

pytest.importorskip("cryptography", reason="cryptography is not installed (extra: submit)")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, Path]:
    """A key and two signed submissions."""
    folder = tmp_path_factory.mktemp("made")
    make_key(folder / "key")
    for name in ("cirrus-8b", "dune-3b"):
        run = make_run(folder / "runs" / name, name, tasks=12, infra=0.0)
        prepare(run, folder / "submissions", {**STATED, "model": {"name": name}}, folder / "key")
    first, second = sorted((folder / "submissions").iterdir())
    return {"key": folder / "key", "first": first, "second": second}


@pytest.fixture
def first(made, tmp_path) -> Path:
    return Path(shutil.copytree(made["first"], tmp_path / made["first"].name))


@pytest.fixture
def board(made, tmp_path) -> Path:
    """A board of both submissions, one of them removed."""
    opened = BoardFolder(tmp_path / "board")
    opened.add(made["first"], **DAY, key=made["key"])
    opened.add(made["second"], **DAY)
    opened.remove(made["second"].name, why="withdrawn", **DAY)
    return opened.path


def restate(folder: Path, key: Path | None = None, **changes: object) -> None:
    """Change a statement and, with a key, sign it again."""
    value = json.loads((folder / "submission.json").read_bytes()) | changes
    data = canonical_bytes(value) + b"\n"
    (folder / "submission.json").write_bytes(data)
    if key is not None:
        signed = [sign(data, key, "submitter", "North", "2026-11-24").as_json()]
        (folder / "signatures.json").write_text(json.dumps(signed))


def test_an_untouched_submission_is_accepted_and_shown(made, board, tmp_path):
    opened = BoardFolder(board)
    assert [line.event for line in opened.ledger.lines] == ["added", "added", "removed"]
    assert list(opened.faults()) == [] and list(opened.faults(opened.ledger.head[:12])) == []
    ((line, folder),) = opened.entries()
    run = opened.run(line.submission)
    entry = read_entry(folder)
    options = BuildOptions(entries={run: entry}, ledger=opened.ledger.lines)
    build([run], tmp_path / "site", options)
    page = (tmp_path / "site" / "ledger.html").read_text("utf-8")
    assert "withdrawn" in page and opened.ledger.head in page and "signed" in page
    (system,) = (tmp_path / "site").glob("runs/*/index.html")
    assert "signed by the submitter: <bdi>North</bdi>" in system.read_text("utf-8")


def test_the_published_schema_describes_submissions(made):
    value = json.loads((made["first"] / "submission.json").read_bytes())
    jsonschema.Draft202012Validator(json_schema()).validate(value)
    value["card"]["dirty"] = "no"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json_schema()).validate(value)


def test_the_same_run_gives_the_same_archive(made, tmp_path):
    run = made["first"].parents[1] / "runs" / "cirrus-8b"
    again = prepare(run, tmp_path, {**STATED, "model": {"name": "cirrus-8b"}})
    for name in ("submission.json", "run.zip"):
        assert (again / name).read_bytes() == (made["first"] / name).read_bytes()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"head": "0" * 64}, "field head: the run gives"),
        ({"plan_hash": "0" * 64}, "field plan_hash"),
        ({"records": 11}, "field records: the run gives 12"),
        ({"results": []}, "0 events are stated, the run has 1"),
        ({"unknown": 1}, "submission.json: there is no setting 'unknown'"),
        ({"tuned": "no"}, "submission.json: tuned must be"),
        ({"link": "javascript:hit()"}, "submission.json: link must match"),
        ({"organisation": "North\nSouth"}, "submission.json: organisation must match"),
        ({"attempts": 0}, "submission.json: attempts must be"),
        ({"date": "today"}, "submission.json: date must match"),
        ({"schema": "hexathlon.submission/0"}, "submission.json: there is no schema"),
        ({"training_data": {"benchmark": "some"}}, "there is no training_data.benchmark 'some'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_changed_statement_is_refused_even_if_it_is_signed(made, first, tmp_path, changes, said):
    restate(first, made["key"], **changes)
    with pytest.raises(IntakeError, match=said):
        BoardFolder(tmp_path / "board").add(first, **DAY)
    assert not (tmp_path / "board" / "ledger.jsonl").exists()


def test_stated_scores_and_cards_are_recomputed(made, first, tmp_path):
    value = json.loads((first / "submission.json").read_bytes())
    better = [{**value["results"][0], "score": 1.0}]
    restate(first, made["key"], results=better)
    with pytest.raises(IntakeError, match="SQL-v1, score: 1.0 is stated, the run gives"):
        BoardFolder(tmp_path / "board").add(first, **DAY)
    for name, other in (("limits", {"turns": 99}), ("sandboxes", {}), ("dirty", True)):
        restate(first, made["key"], results=value["results"], card={**value["card"], name: other})
        with pytest.raises(IntakeError, match=f"field card.{name}: the run gives"):
            BoardFolder(tmp_path / "board").add(first, **DAY)


def test_signatures_over_other_content_or_by_other_keys_are_refused(made, first, tmp_path):
    restate(first, note="better")
    with pytest.raises(IntakeError, match=r"signature 1 \(submitter\): signs .*, the content is"):
        read_entry(first)
    data = (first / "submission.json").read_bytes()
    make_key(tmp_path / "other")
    mine = sign(data, made["key"], "submitter", "North", "2026-11-24")
    other = sign(data, tmp_path / "other", "submitter", "North", "2026-11-24")
    assert check_signature(mine, data) is None
    for forged, said in (
        (mine._replace(key=other.key), "was not made by the key"),
        (mine._replace(role="maintainer"), "was not made by the key"),
        (mine._replace(date="2026-01-01"), "was not made by the key"),
        (mine._replace(signature="zz"), "malformed"),
        (mine._replace(key="rsa:00"), "unknown kind"),
    ):
        (first / "signatures.json").write_text(json.dumps([mine.as_json(), forged.as_json()]))
        with pytest.raises(IntakeError, match=f"signature 2.*{said}"):
            read_entry(first)
    for text, said in (("{", "not JSON"), ("[1]", "expected the fields"), ("{}", "a list of")):
        (first / "signatures.json").write_text(text)
        with pytest.raises(IntakeError, match=said):
            read_entry(first)


def test_statements_must_be_canonical_and_small(made):
    data = (made["first"] / "submission.json").read_bytes()
    assert parse_submission(data).organisation == "North"
    for odd, said in (
        (data.replace(b'":"', b'": "', 1), "canonical"),
        (b"[]", "expected an object"),
        (b"{" * 5000, "not JSON"),
        (data + b" " * 1_000_000, "more than"),
    ):
        with pytest.raises(EntryError, match=said):
            parse_submission(odd)


def repack(folder: Path, change) -> None:
    """Rewrite an archive; ``change`` maps (info, bytes) to a list of such pairs."""
    path = folder / "run.zip"
    with zipfile.ZipFile(path) as old:
        members = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for info, data in change(members):
            new.writestr(info, data)


def with_member(name: str, data: bytes = b"x", mode: int = 0o644):
    def change(members):
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        return [*members, (info, data)]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_member("../../outside"), "archive and the list of files differ"),
        (with_member("/etc/passwd"), "archive and the list of files differ"),
        (with_member("media/link", mode=stat.S_IFLNK | 0o777), "list of files differ"),
        (with_member("plan.json"), "list of files differ"),
        (lambda members: members[1:], "list of files differ"),
        (
            lambda members: [(i, d.replace(b"1.0", b"0.5", 1)) for i, d in members],
            "not those of the stated hash",
        ),
        (lambda members: [(i, d + b"\n") for i, d in members], "bytes, .* are stated"),
    ],
    ids=["traversal", "absolute", "link", "twice", "missing", "changed", "longer"],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_with_other_content_are_refused(first, tmp_path, change, said):
    repack(first, change)
    with pytest.raises(IntakeError, match=said):
        BoardFolder(tmp_path / "board").add(first, **DAY)
    assert [path.name for path in tmp_path.iterdir() if path.name == "outside"] == []
    assert not list((tmp_path / "board" / "runs").glob("*"))


def test_archives_that_unpack_to_far_more_than_their_size_are_refused(made, first, tmp_path):
    value = json.loads((first / "submission.json").read_bytes())
    bomb = b"\0" * (3 << 20)
    value["files"][-1] |= {"size": len(bomb)}
    restate(first, made["key"], files=value["files"])
    repack(first, lambda members: [*members[:-1], (members[-1][0].filename, bomb)])
    with pytest.raises(IntakeError, match="unpacks to more than 400 times"):
        BoardFolder(tmp_path / "board").add(first, **DAY)
    (first / "run.zip").write_bytes(b"PK\x05\x06 not an archive")
    with pytest.raises(IntakeError, match="not a readable zip"):
        BoardFolder(tmp_path / "board").add(first, **DAY)


def rewritten(board: Path, change) -> None:
    path = board / "ledger.jsonl"
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def rehashed(line: bytes, **changes: object) -> bytes:
    """Return a line of a ledger with changes and the hash that fits them."""
    value = json.loads(line) | changes
    value.pop("hash")
    return canonical_bytes({**value, "hash": content_hash(value)}) + b"\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda all_: [all_[0].replace(b"North", b"South"), *all_[1:]], "line 1, field 'hash'"),
        (lambda all_: [all_[0], all_[2]], "line 2, field 'number': is 3"),
        (lambda all_: [all_[1], all_[0], all_[2]], "line 1, field 'number': is 2"),
        (lambda all_: [*all_[:2], b"{}\n"], "line 3: is not a line"),
        (lambda all_: [*all_[:2], all_[2][:-10]], "line 3: is not a line"),
        (
            lambda all_: [all_[0], rehashed(all_[1], why="so"), all_[2]],
            "line 3, field 'prev': names",
        ),
        (
            lambda all_: [rehashed(all_[0], name="x"), *all_[1:]],
            "line 1, field 'signature': signs",
        ),
        (
            lambda all_: [rehashed(all_[0], signature=None), *all_[1:]],
            "line 2, field 'prev': names",
        ),
    ],
    ids=["changed", "dropped", "moved", "odd", "torn", "rehashed", "signed", "unsigned"],
)
def test_a_changed_ledger_is_refused_at_the_line(board, change, said):
    rewritten(board, change)
    with pytest.raises(LedgerFault, match=said):
        BoardFolder(board)


def test_a_ledger_that_was_cut_off_is_found_by_its_files_or_a_published_head(board):
    head = BoardFolder(board).ledger.head
    rewritten(board, lambda lines: lines[:2])
    opened = BoardFolder(board)
    assert [line.event for line in opened.ledger.lines] == ["added", "added"]
    assert any("end was cut off" in fault for fault in opened.faults(head[:10]))
    rewritten(board, lambda lines: lines[:1])
    assert any("no line names dune-3b" in fault for fault in BoardFolder(board).faults())


def test_files_exchanged_after_the_addition_are_found(made, board):
    folder = board / "submissions" / made["first"].name
    value = json.loads((folder / "submission.json").read_bytes())
    restate(folder, made["key"], note="better")
    (fault,) = BoardFolder(board).faults()
    assert fault.startswith("ledger.jsonl, line 1: statement is not that of cirrus-8b")
    restate(folder, made["key"], note=value["note"])
    assert list(BoardFolder(board).faults()) == []
    records = board / "runs" / made["first"].name / "records.jsonl"
    records.write_bytes(records.read_bytes().replace(b'"reward":0.0', b'"reward":1.0', 1))
    (fault,) = BoardFolder(board).faults()
    assert "records.jsonl, line" in fault


def test_nothing_is_added_twice_removed_silently_or_rescored_without_a_reason(made, board):
    opened = BoardFolder(board)
    with pytest.raises(IntakeError, match="on the board already"):
        opened.add(made["first"], **DAY)
    with pytest.raises(IntakeError, match="needs a reason"):
        opened.remove(made["first"].name, why=" ", **DAY)
    with pytest.raises(IntakeError, match="not on the board"):
        opened.remove(made["second"].name, why="again", **DAY)
    with pytest.raises(IntakeError, match="rescoring needs a reason"):
        opened.add(made["second"], **DAY, replaces=made["first"].name)
    assert BoardFolder(board).ledger.head == opened.ledger.head
    opened.add(made["second"], **DAY, replaces=made["first"].name, why="verifier 2")
    assert [line.event for line in BoardFolder(board).ledger.lines][3:] == ["rescored", "added"]


def test_a_removed_submission_comes_back_only_as_it_was(made, board, tmp_path):
    opened = BoardFolder(board)
    other = Path(shutil.copytree(made["second"], tmp_path / made["second"].name))
    restate(other, made["key"], note="now better")
    with pytest.raises(IntakeError, match="with another statement"):
        opened.add(other, **DAY)
    opened.add(made["second"], **DAY)
    assert list(BoardFolder(board).faults()) == []


def test_a_counter_signature_is_kept_and_checked(made, board, tmp_path):
    make_key(tmp_path / "other")
    folder = board / "submissions" / made["first"].name
    data = (folder / "submission.json").read_bytes()
    opened = BoardFolder(board)
    opened.countersign(folder.name, sign(data, tmp_path / "other", "rerun", "South", "2026-11-24"))
    assert [one.role for one in read_entry(folder).signatures] == ["submitter", "rerun"]
    wrong = sign(b"other", tmp_path / "other", "rerun", "South", "2026-11-24")
    with pytest.raises(IntakeError, match="the signature signs"):
        opened.countersign(folder.name, wrong)


@pytest.mark.parametrize(
    "events", [None, "x", [1], [{}], [{"env": "<b>", "first": "1"}], [{"env": 1, "first": 0.5}]]
)
def test_the_page_of_a_ledger_leaves_out_figures_of_another_form(board, tmp_path, events):
    ledger = BoardFolder(board).ledger
    ledger.append("re-run", why="consistent", details={"events": events}, **DAY)
    run = make_run(tmp_path / "run", "dune-3b", tasks=4)
    build([run], tmp_path / "site", BuildOptions(ledger=ledger.lines))
    page = (tmp_path / "site" / "ledger.html").read_text("utf-8")
    assert "consistent" in page and "changed, p" not in page and "<b>" not in page


def test_a_key_that_cannot_sign_is_refused_before_anything_is_copied(first, tmp_path):
    (tmp_path / "key").write_text("hello")
    made = BoardFolder(tmp_path / "board")
    with pytest.raises(IntakeError, match="key is not a key"):
        made.add(first, **DAY, key=tmp_path / "key")
    assert not (tmp_path / "board").exists()
