"""The labelled set: its labels are the truth, by construction and by a second reading."""

import pytest

from hexathlon.evaluators.judges.audit.labelled import (
    LabelError,
    generate_labels,
    labels_hash,
    padded,
    read_labels_file,
    write_labels,
)
from hexathlon.evaluators.judges.audit.reading import read_labels

RUBRIC, REPLIES = generate_labels(0, 4000)


def test_labelled_set_is_large_balanced_and_bilingual():
    assert len(REPLIES) * len(RUBRIC.criteria) >= 4000
    assert len({reply.reply for reply in REPLIES}) == len(REPLIES)
    for criterion in RUBRIC.criteria:
        share = sum(reply.labels[criterion.id] == "met" for reply in REPLIES) / len(REPLIES)
        assert 0.42 < share < 0.58, criterion.id
    for name, values in (("language", ("en", "zh")), ("author", ("alder", "birch"))):
        counts = [sum(getattr(reply, name) == value for reply in REPLIES) for value in values]
        assert min(counts) > 0.4 * len(REPLIES), name


def test_independent_labelling_agrees():
    for reply in REPLIES:
        assert read_labels(reply.question, reply.reply, reply.language) == reply.labels


def test_independent_labelling_discards_nothing(monkeypatch):
    """Both labellings agree on every draw, so the set is not filtered by one of them."""
    seen = []

    def counting(question, reply, language):
        labels = read_labels(question, reply, language)
        seen.append(labels)
        return labels

    monkeypatch.setattr("hexathlon.evaluators.judges.audit.labelled.read_labels", counting)
    _, replies = generate_labels(9, 2400)
    assert len(seen) == len(replies)


def test_words_alone_do_not_determine_the_label():
    """A judge that matches words alone fails: the words occur in replies of both labels."""
    for criterion, word in (("thanks", "hank"), ("promise", "day"), ("secret", "key"),
                            ("substitute", "instead"), ("greeting", "orning")):  # fmt: skip
        english = [reply for reply in REPLIES if reply.language == "en" and word in reply.reply]
        assert {one.labels[criterion] for one in english} == {"met", "not_met"}, criterion


def test_sets_are_seeded_and_nested():
    assert generate_labels(0, 800)[1] == REPLIES[:100]
    assert labels_hash(generate_labels(1, 800)[1]) != labels_hash(REPLIES[:100])


def test_padding_doubles_length_and_keeps_labels():
    for reply in REPLIES[:60]:
        longer = padded(reply)
        assert 1.9 < len(longer.reply) / len(reply.reply) < 2.6
        assert read_labels(longer.question, longer.reply, longer.language) == reply.labels


def test_label_files_round_trip(tmp_path):
    path = tmp_path / "labels.jsonl"
    write_labels(path, REPLIES[:20])
    assert read_labels_file(path, RUBRIC) == REPLIES[:20]


@pytest.mark.parametrize("line, said", [
    ("{", "line 1 is not JSON"),
    ("[]", "expected an object with the texts id, question, reply"),
    ('{"id": "a", "question": "q", "reply": "r"}', "expected 'labels'"),
    ('{"id": "a", "question": "q", "reply": "r", "labels": {"thnks": "met"}}', "no criterion 'th"),
    ('{"id": "a", "question": "q", "reply": "r", "labels": {"thanks": "yes"}}', "'yes' is not a l"),
    ("", "contains no labelled reply"),
])  # fmt: skip
def test_file_defects_are_named(tmp_path, line, said):
    path = tmp_path / "labels.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(LabelError, match=said):
        read_labels_file(path, RUBRIC)
