"""Guarantees of a record file: complete lines, one writer, a chain with located faults."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from pathlib import Path

import pytest

from hexathlon.evaluators.records import (
    RecordError,
    RecordWriter,
    RunLocked,
    TornLineWarning,
    check_chain,
    completed_keys,
    read_records,
    record_hash,
    record_key,
)
from hexathlon.evaluators.records.canonical import canonical_bytes, content_hash
from hexathlon.evaluators.records.reader import (
    located_records,
    parse_line,
    parse_sealed,
    record_at,
)
from support.records import make_record

PLAN = "a" * 64


def write_run(folder: Path, count: int = 5) -> Path:
    with RecordWriter(folder, PLAN, fsync="never") as writer:
        for index in range(count):
            writer.append(make_record(index))
    return folder / "records.jsonl"


def edit_line(path: Path, number: int, change) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[number - 1])
    change(record)
    lines[number - 1] = canonical_bytes(record) + b"\n"
    path.write_bytes(b"".join(lines))


def test_records_round_trip(tmp_path):
    with RecordWriter(tmp_path, PLAN) as writer:
        appended = [writer.append(make_record(index)) for index in range(3)]
    assert list(read_records(tmp_path)) == appended
    assert appended[0]["prev"] == PLAN
    assert [record["prev"] for record in appended[1:]] == [r["hash"] for r in appended[:-1]]
    assert check_chain(tmp_path, PLAN) == []
    assert completed_keys(tmp_path) == {record_key(record) for record in appended}


def test_record_is_read_by_offset(tmp_path):
    write_run(tmp_path)
    places = dict(located_records(tmp_path))
    assert [record_at(tmp_path, start) for start in places] == list(read_records(tmp_path))
    with pytest.raises(RecordError, match="no record begins there any more"):
        record_at(tmp_path, list(places)[1] + 1)


def test_hash_covers_everything_but_the_timing():
    record = make_record(prev=PLAN)
    later = {**record, "timing": {"started": "2030-01-01T00:00:00Z"}}
    assert record_hash(record) == record_hash(later)
    for name in record:
        if name != "timing":
            assert record_hash({**record, name: "other"}) != record_hash(record), name


def test_hash_is_the_documented_one():
    record = make_record(prev=PLAN)
    hashed = {name: value for name, value in record.items() if name != "timing"}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert record_hash(record) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "text",
    ["", "\x00\x1b[31m\u202e\u2028\r\n", "\ud800 alone", "\ud83d\ude00 in halves", "😀", "\\ud800",
     '{"a": "\\u0000"}'],
)  # fmt: skip
def test_any_text_keeps_its_chain(tmp_path, text):
    state = {"text": text, text: [text]}
    record = make_record(opening=text, final_state=state, final_state_hash=content_hash(state))
    with RecordWriter(tmp_path, PLAN) as writer:
        writer.append(record)
        writer.append(make_record(1))
    assert check_chain(tmp_path, PLAN) == []
    (first, _) = read_records(tmp_path)
    assert first["opening"].encode("utf-16", "surrogatepass") == text.encode(
        "utf-16", "surrogatepass"
    )
    (tmp_path / "records.jsonl").read_text("utf-8")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"schema": "hexathlon.trial/9"}, "schema"),
        ({"reward": None}, "reward"),
        ({"reward": 1.5}, "reward"),
        ({"reward": float("nan")}, "reward"),
        ({"reward": True}, "reward"),
        ({"status": "fine"}, "status"),
        ({"status": "infra", "reward": None}, "cause"),
        ({"status": "infra", "cause": "env"}, "reward"),
        ({"attempt": 0}, "attempt"),
        ({"key": {"env": "e", "task": "t", "seed": "0", "trial": 0}}, "key.seed"),
        ({"steps": [{"index": 0}]}, "steps\\[0\\].action"),
        ({"final_state": {1: "a"}}, "final_state\\[1\\]"),
        ({"evidence": {"rows": [1, {"deep": {(): 2}}]}}, "evidence.rows\\[1\\].deep"),
        ({"evidence": {"value": float("inf")}}, "not JSON"),
        ({"evidence": {"value": object()}}, "not JSON"),
        ({"usage": {"agent": 5}}, "usage.agent"),
        ({"usage": {"agent": {"cost": "much"}}}, "usage.agent.cost"),
        ({"usage": {"agent": {"input": -1}}}, "usage.agent.input"),
        ({"terms": {"a": "b"}}, "terms"),
        ({"flags": [1]}, "flags"),
        ({"earlier": ["a"]}, "earlier"),
        ({"timing": {"latencies": [float("inf")]}}, "timing.latencies"),
        ({"timing": {"agent": "long"}}, "timing.agent"),
    ],
)
def test_malformed_record_is_rejected_and_not_written(tmp_path, changes, field):
    with RecordWriter(tmp_path, PLAN) as writer:
        with pytest.raises(RecordError, match=field):
            writer.append(make_record(**changes))
        assert (tmp_path / "records.jsonl").stat().st_size == 0


def test_second_writer_gets_the_process_id(tmp_path):
    with RecordWriter(tmp_path, PLAN):
        with pytest.raises(RunLocked, match=f"id {os.getpid()}"):
            RecordWriter(tmp_path, PLAN)
    RecordWriter(tmp_path, PLAN).close()


def test_closed_writer_raises(tmp_path):
    writer = RecordWriter(tmp_path, PLAN)
    writer.close()
    writer.close()
    with pytest.raises(RecordError, match="closed"):
        writer.append(make_record())


@pytest.mark.parametrize("fsync", ["record", "close", "never"])
def test_next_writer_continues_the_chain(tmp_path, fsync):
    for start in (0, 2):
        with RecordWriter(tmp_path, PLAN, fsync=fsync) as writer:
            for index in range(start, start + 2):
                writer.append(make_record(index))
    assert check_chain(tmp_path, PLAN) == []
    assert len(completed_keys(tmp_path)) == 4


def test_torn_last_lines_are_moved_aside(tmp_path):
    path = write_run(tmp_path, 3)
    whole = path.read_bytes()
    last = whole[: whole[:-1].rfind(b"\n") + 1]
    for cut in (1, 2, 100, len(whole) - len(last) - 1):
        path.write_bytes(whole[: len(last) + cut])
        (tmp_path / "records.torn").unlink(missing_ok=True)
        with pytest.warns(TornLineWarning, match=f"line 3: {cut} bytes"):
            assert len(list(read_records(tmp_path))) == 2
        assert [str(fault.line) + fault.field for fault in check_chain(tmp_path, PLAN)] == ["3line"]
        with RecordWriter(tmp_path, PLAN) as writer:
            assert writer.torn == whole[len(last) : len(last) + cut]
            writer.append(make_record(2))
        assert path.read_bytes() == whole
        assert (tmp_path / "records.torn").read_bytes() == writer.torn + b"\n"


def test_a_line_of_nothing_but_torn_bytes(tmp_path):
    (tmp_path / "records.jsonl").write_bytes(b'{"schema"')
    with RecordWriter(tmp_path, PLAN) as writer:
        assert writer.torn == b'{"schema"'
        writer.append(make_record())
    assert check_chain(tmp_path, PLAN) == []


def test_long_lines_are_found_from_the_end(tmp_path):
    with RecordWriter(tmp_path, PLAN, fsync="never") as writer:
        for index, size in enumerate((10, 300_000, 70_000)):
            writer.append(make_record(index, opening="x" * size))
    with (tmp_path / "records.jsonl").open("ab") as file:
        file.write(b"y" * 200_000)
    with RecordWriter(tmp_path, PLAN, fsync="never") as writer:
        assert len(writer.torn) == 200_000
        writer.append(make_record(3))
    assert check_chain(tmp_path, PLAN) == []


def test_different_plan_hash_is_rejected(tmp_path):
    write_run(tmp_path)
    with pytest.raises(RecordError, match="another plan"):
        RecordWriter(tmp_path, "d" * 64)
    (fault,) = check_chain(tmp_path, "d" * 64)
    assert (fault.line, fault.field) == (1, "prev")


def test_a_changed_last_record_stops_the_writer(tmp_path):
    path = write_run(tmp_path)
    edit_line(path, 5, lambda record: record.update(reward=0.0))
    with pytest.raises(RecordError, match="last record was changed"):
        RecordWriter(tmp_path, PLAN)
    with pytest.raises(RecordError, match="last record was changed"):
        RecordWriter(tmp_path, PLAN)  # and not RunLocked: the first attempt released the lock


def set_state(record):
    record["final_state"]["answer"] = 99


def rehash(record):
    record["reward"] = 0.0
    record["hash"] = record_hash(record)


@pytest.mark.parametrize(
    ("change", "line", "field"),
    [
        (lambda record: record.update(reward=0.0), 3, "hash"),
        (lambda record: record["steps"][0].update(action="other"), 3, "hash"),
        (lambda record: record["usage"]["agent"].update(input=1), 3, "hash"),
        (lambda record: record.update(unknown=1), 3, "hash"),
        (lambda record: record.update(hash="e" * 64), 3, "hash"),
        (lambda record: record.pop("hash"), 3, "hash"),
        (lambda record: record.update(reward=7), 3, "reward"),
        (lambda record: record.pop("steps"), 3, "steps"),
        (set_state, 3, "final_state"),
        (rehash, 4, "prev"),
    ],
)
def test_each_fault_has_one_location(tmp_path, change, line, field):
    path = write_run(tmp_path)
    edit_line(path, 3, change)
    faults = check_chain(tmp_path, PLAN)
    assert [(fault.line, fault.field) for fault in faults] == [(line, field)]
    assert f"line {line}" in str(faults[0])


def test_changed_timing_is_not_a_fault(tmp_path):
    path = write_run(tmp_path)
    edit_line(path, 3, lambda record: record["timing"].update(agent=9.0))
    assert check_chain(tmp_path, PLAN) == []


@pytest.mark.parametrize(
    ("order", "places"),
    [
        ([0, 1, 3, 4], [(3, "prev")]),
        ([1, 2, 3, 4], [(1, "prev")]),
        ([0, 2, 1, 3, 4], [(2, "prev"), (3, "prev"), (4, "prev")]),
        ([0, 1, 1, 2, 3, 4], [(3, "prev")]),
    ],
)
def test_removed_moved_and_repeated_lines_are_detected(tmp_path, order, places):
    path = write_run(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[index] for index in order))
    faults = check_chain(tmp_path, PLAN)
    assert [(fault.line, fault.field) for fault in faults] == places


def test_invalid_line_does_not_hide_later_faults(tmp_path):
    path = write_run(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"[" * 100_000 + b"\n"
    edited = json.loads(lines[3])
    edited["reward"] = 0.0
    path.write_bytes(b"".join([*lines[:3], canonical_bytes(edited) + b"\n", lines[4]]))
    places = [(fault.line, fault.field) for fault in check_chain(path, PLAN)]
    assert places == [(2, "line"), (4, "hash")]
    with pytest.raises(RecordError, match="line 2"):
        list(read_records(path))


@pytest.mark.parametrize("text", ["NaN", "1e999", "1" * 5000, '"\\udead"'])
def test_unexpected_values_are_faults_not_crashes(tmp_path, text):
    path = write_run(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"evidence":{}', b'"evidence":{"value":%s}' % text.encode(), 1))
    assert [fault.line for fault in check_chain(path, PLAN)] == [1]


def test_only_infra_failures_may_be_retried(tmp_path):
    with RecordWriter(tmp_path, PLAN) as writer:
        writer.append(make_record(0, status="infra", cause="env", reward=None, stop="error_env"))
        writer.append(make_record(1))
    assert len(completed_keys(tmp_path)) == 2
    assert len(completed_keys(tmp_path, infra=False)) == 1
    with RecordWriter(tmp_path, PLAN) as writer:
        writer.append(make_record(0, attempt=2))
    assert check_chain(tmp_path, PLAN) == []
    with RecordWriter(tmp_path, PLAN) as writer:
        writer.append(make_record(1, attempt=2))
    (fault,) = check_chain(tmp_path, PLAN)
    assert (fault.line, fault.field) == (4, "key")
    assert "line 2" in fault.message


def test_a_missing_file_has_no_records(tmp_path):
    assert list(read_records(tmp_path)) == []
    assert completed_keys(tmp_path) == set()
    assert check_chain(tmp_path, PLAN) == []


KILLED_WRITER = """
    import sys
    sys.path.insert(0, {tests!r})
    from support.records import make_record
    PLAN = "a" * 64
    from hexathlon.evaluators.records import RecordWriter, completed_keys, record_key
    done = completed_keys({run!r})
    with RecordWriter({run!r}, PLAN, fsync="never") as writer:
        for index in range(100_000):
            record = make_record(index, opening="x" * 50_000)
            if record_key(record) not in done:
                writer.append(record)
"""


def test_killed_writers_leave_a_sound_file(tmp_path):
    code = textwrap.dedent(KILLED_WRITER).format(
        tests=str(Path(__file__).parents[1]), run=str(tmp_path)
    )
    path = tmp_path / "records.jsonl"
    for round_number in range(1, 4):
        writer = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code])
        size, deadline = round_number * 2_000_000, time.monotonic() + 60
        while not path.exists() or path.stat().st_size < size:
            assert writer.poll() is None, "the writer ended by itself"
            assert time.monotonic() < deadline, "the writer wrote too little in 60 s"
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        RecordWriter(tmp_path, PLAN).close()
        assert check_chain(tmp_path, PLAN) == []
    tasks = [record["key"]["task"] for record in read_records(tmp_path)]
    assert tasks == [f"echo/word/easy/test/{index:05d}" for index in range(len(tasks))]


def test_writing_and_reading_use_constant_memory(tmp_path):
    with RecordWriter(tmp_path, PLAN, fsync="never") as writer:
        for index in range(200):
            writer.append(make_record(index, opening="x" * 100_000))
        tracemalloc.start()
        for index in range(200, 300):
            writer.append(make_record(index, opening="x" * 100_000))
        assert sum(1 for _ in read_records(tmp_path)) == 300
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3_000_000


def test_lines_written_otherwise_are_hashed_canonically(tmp_path):
    """The fast check of a line's own bytes accepts nothing that the canonical hash would not."""
    digest = "0" * 64
    with RecordWriter(tmp_path, digest, fsync="never") as writer:
        writer.append(make_record(0))
    path = tmp_path / "records.jsonl"
    line = path.read_bytes()
    record, stated = parse_sealed(line)
    assert record == parse_line(line) and stated == record["hash"] == record_hash(record)
    spaced = json.dumps(record).encode() + b"\n"
    assert parse_sealed(spaced) == (record, stated)
    path.write_bytes(spaced)
    assert check_chain(tmp_path, digest) == []
    twice = line.replace(b'{"hash"', b'{"hash":"x","hash"', 1)
    assert parse_sealed(twice)[1] == stated
    inside = line[:-2] + b',"timing":{"started":"later"}}\n'
    assert (
        parse_sealed(inside)[1] == stated and parse_sealed(inside)[0]["timing"] != record["timing"]
    )
    changed = line.replace(b'"attempt":1', b'"attempt":2', 1)
    assert parse_sealed(changed)[1] not in ("", stated)
    path.write_bytes(changed)
    (fault,) = check_chain(tmp_path, digest)
    assert fault.field == "hash"


@pytest.mark.parametrize(
    "value",
    ["\ud800", 10**60, 5e-324, 0.1 + 0.2, -0.0, {"deep": json.loads("[" * 300 + "]" * 300)}],
    ids=["lone surrogate", "long integer", "denormal", "sum", "negative zero", "deep"],
)
def test_sealed_records_keep_every_value(tmp_path: Path, value: object) -> None:
    with RecordWriter(tmp_path, PLAN, fsync="never") as writer:
        writer.append({**make_record(0), "evidence": {"value": value}})
    line = (tmp_path / "records.jsonl").read_bytes()
    record, stated = parse_sealed(line)
    assert record == parse_line(line)
    assert stated == record["hash"] == record_hash(record)
    assert repr(record["evidence"]["value"]) == repr(value)


def test_a_sealed_record_with_an_infinity_is_no_record(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, PLAN, fsync="never") as writer:
        writer.append(make_record(0))
    line = (tmp_path / "records.jsonl").read_bytes()
    start = line.index(b'"attempt"')
    body = line[start:].rstrip(b"\n").replace(b'"attempt":1', b'"attempt":Infinity', 1)
    digest = hashlib.sha256(b"{" + body).hexdigest()
    forged = b'{"hash":"' + digest.encode() + line[73:start] + body + b"\n"
    assert parse_sealed(forged) == (None, "")
