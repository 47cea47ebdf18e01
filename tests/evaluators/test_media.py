"""Images and files of records: stored once, before the record that names them, and checked."""

import numpy as np
import pytest

from hexathlon.evaluators.content import File, Image, Text, content_to_json, media_of
from hexathlon.evaluators.records import (
    MediaStore,
    RecordError,
    RecordWriter,
    check_chain,
    read_content,
    read_records,
    stored_media,
)
from hexathlon.evaluators.records.media import has_parts
from hexathlon.evaluators.records.trial import record_fault
from support.records import make_record

PLAN = "a" * 64
IMAGE = Image.from_array(np.full((4, 6, 3), 7, np.uint8))
FILE = File("<b>.csv", "text/csv", b"1,2\n")
CONTENT = (Text("See:"), IMAGE, FILE)
MEDIA = media_of([CONTENT])


def record_with(content, index=0):
    record = make_record(index, opening=content_to_json(content))
    record["steps"][0]["observation"] = content_to_json((IMAGE,))
    return record


def write(folder, count=2):
    with RecordWriter(folder, PLAN) as writer:
        for index in range(count):
            writer.append(record_with(CONTENT, index), MEDIA)
    return folder


def test_media_are_stored_once(tmp_path):
    write(tmp_path)
    names = {path.name: path.read_bytes() for path in (tmp_path / "media").iterdir()}
    assert names == {f"{IMAGE.sha256}.png": IMAGE.png(), f"{FILE.sha256}.bin": FILE.data}
    assert check_chain(tmp_path, PLAN) == []
    for record in read_records(tmp_path):
        assert read_content(tmp_path, record["opening"]) == CONTENT
        assert stored_media(tmp_path, record) == MEDIA
    assert read_content(tmp_path, "text") == "text"


def test_text_only_run_has_no_media_directory(tmp_path):
    with RecordWriter(tmp_path, PLAN) as writer:
        writer.append(make_record(), {"0" * 64: b"not named"})
    assert not (tmp_path / "media").exists()


def test_a_record_without_its_bytes_is_not_written(tmp_path):
    with RecordWriter(tmp_path, PLAN) as writer:
        with pytest.raises(RecordError, match=f"'opening'.*{IMAGE.sha256}.png is missing"):
            writer.append(record_with(CONTENT))
        with pytest.raises(RecordError, match="the bytes give"):
            writer.append(record_with(CONTENT), {**MEDIA, FILE.sha256: b"other"})
        assert list(read_records(tmp_path)) == []
        writer.append(record_with(CONTENT), MEDIA)
        writer.append(record_with(CONTENT, 1))
    with RecordWriter(tmp_path, PLAN) as writer:
        writer.append(record_with(CONTENT, 2))
    assert len(list(read_records(tmp_path))) == 3 and check_chain(tmp_path, PLAN) == []


def test_writer_repairs_damaged_media(tmp_path):
    write(tmp_path, 1)
    store = MediaStore.beside(tmp_path)
    part = FILE.to_json()
    store.path(part).write_bytes(b"damaged")
    with RecordWriter(tmp_path, PLAN) as writer:
        writer.append(record_with(CONTENT, 1), MEDIA)
    assert store.fault(part) == "" and store.read(part) == FILE.data


@pytest.mark.parametrize("part", [IMAGE.to_json(), FILE.to_json()])
def test_chain_reports_missing_or_changed_media(tmp_path, part):
    write(tmp_path)
    path = MediaStore.beside(tmp_path).path(part)
    other = Image.from_array(255 - IMAGE.array())
    path.write_bytes(other.png() if part["type"] == "image" else FILE.data + b"x")
    (fault,) = check_chain(tmp_path, PLAN)
    assert (fault.line, fault.field) == (1, "opening")
    assert path.name in fault.message and "was changed" in fault.message
    path.unlink()
    (fault,) = check_chain(tmp_path, PLAN)
    assert f"media/{path.name} is missing" in fault.message
    with pytest.raises(RecordError, match="is missing"):
        read_content(tmp_path, [part])


def test_forged_size_is_detected(tmp_path):
    with RecordWriter(tmp_path, PLAN) as writer:
        forged = {**IMAGE.to_json(), "width": 3, "height": 8}
        with pytest.raises(RecordError, match="the bytes give"):
            writer.append(make_record(opening=[forged]), MEDIA)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ([], "opening"),
        (["text"], "opening[0]"),
        ([{"type": "sound"}], "opening[0].type"),
        ([{"type": "text"}], "opening[0].text"),
        ([{**IMAGE.to_json(), "data": "aGk="}], "opening[0]"),
        ([{**IMAGE.to_json(), "sha256": "../../etc/passwd"}], "opening[0].sha256"),
        ([{**IMAGE.to_json(), "sha256": IMAGE.sha256.upper()}], "opening[0].sha256"),
        ([{**IMAGE.to_json(), "width": 0}], "opening[0]"),
        ([{**IMAGE.to_json(), "width": 1 << 30}], "opening[0]"),
        ([{**FILE.to_json(), "name": "a/b"}], "opening[0]"),
        ([{**FILE.to_json(), "size": -1}], "opening[0]"),
        ([{**FILE.to_json(), "size": 1 << 40}], "opening[0]"),
        ([{"type": "text", "text": "a"}] * 1025, "opening"),
        (5, "opening"),
    ],
)
def test_malformed_content_is_named(content, field):
    fault = record_fault(make_record(opening=content))
    assert fault is not None and fault[0] == field


def test_malformed_observations_are_named():
    record = make_record()
    record["steps"][0]["observation"] = [{"type": "image"}]
    fault = record_fault(record)
    assert fault is not None and fault[0] == "steps[0].observation[0].sha256"


def test_only_lists_of_parts_can_name_images():
    record = make_record()
    assert not has_parts(record)
    assert has_parts({**record, "opening": [{"type": "text", "text": "Look."}]})
    record["steps"][-1]["observation"] = [{"type": "text", "text": "Done."}]
    assert has_parts(record)
