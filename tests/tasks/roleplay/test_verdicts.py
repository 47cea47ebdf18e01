"""Statements about role-play replies: truth, splits and held-out kinds."""

import json
import re
from collections import Counter

import pytest

from hexathlon.evaluators.judges.rubric_files import read_rubric, rubric_text
from hexathlon.evaluators.roleplay.verdict_labels import VERDICT_TEMPLATES, label_verdicts
from hexathlon.evaluators.roleplay.verdicts import likeness_of_critiques
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay.verdicts.performance import ACTS, grammar, subjects
from hexathlon.tasks.roleplay.verdicts.statements import TEMPLATES, UNSEEN_KINDS

SOURCE = get_source("verdicts")
TRAINED = ("named", "asked", "secret", "aside")


def tasks(split, template, count):
    return [SOURCE.build(f"verdicts/{template}/tiny/{split}/{n:05d}") for n in range(count)]


def reading(task):
    """The truth of a statement, read from the texts alone with patterns of our own."""
    statement = task.params["statement"].rstrip(".")
    question, reply = task.params["question"], task.params["reply"]
    card = dict(re.findall(r"^your (?!secret: )(.+?): (.+)$", question, re.MULTILINE))
    secret = re.search(r"^your secret: the (.+)$", question, re.MULTILINE)[1]
    asked = re.search(r"your (.+?)[.?]$", question)[1]
    denied = statement.startswith("It is false that ")
    statement = statement.removeprefix("It is false that ")
    return asserts(statement.lower(), card, secret, asked, reply) != denied


def asserts(statement, card, secret, asked, reply):
    if "foreign language" in statement:
        return re.search("[一-鿿]", reply) is not None
    if "asks a question" in statement:
        return "?" in reply
    sentences = re.findall(r"[^.?。]+[.?。]", reply)
    if "names somebody" in statement:
        asides = r"(.+) told me so|Ask (.+) about it|I met (.+) today"
        named = [m[1] or m[2] or m[3] for s in sentences if (m := re.search(asides, s.strip()))]
        return any(name not in card.values() for name in named)
    (subject,) = {
        name
        for name in card
        if re.search(rf"\bthe {re.escape(name)}\b", statement)
        or ("what was asked" in statement and name == asked)
        or ("the secret" in statement.replace("the secret recipe", "") and name == secret)
    }
    own = [s.strip() for s in sentences if re.search(rf"\bmy {re.escape(subject)}\b", s.lower())]
    if not own:
        act = "silent"
    elif re.search("not speak|nobody's concern|to myself", own[0]):
        act = "declined"
    elif re.search("no, it is not|do not believe|or rather not", own[0]):
        act = "withdrawn"
    else:
        act = "right" if card[subject].lower() in own[0].lower() else "wrong"
    asserted = {"gives": "right", "wrong": "wrong", "refuses": "declined", "takes": "withdrawn",
                "silent": "silent"}  # fmt: skip
    (about,) = {name for word, name in asserted.items() if word in statement.split()}
    return act == about


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_second_reading_of_the_texts_gives_the_same_labels(template, split):
    for task in tasks(split, template, 60):
        label = task.checks[0].params["label"]
        assert (label == "met") == reading(task), task.params


def test_half_of_the_statements_hold():
    drawn = Counter(
        task.checks[0].params["label"] for template in TRAINED
        for task in tasks("dev", template, 200)
    )  # fmt: skip
    assert 0.44 < drawn["met"] / drawn.total() < 0.56


def test_train_has_neither_the_unseen_subjects_nor_the_unseen_kinds():
    text = "\n".join(
        task.params["statement"] + task.params["question"] for template in TRAINED
        for task in tasks("train", template, 300)
    )  # fmt: skip
    for name in subjects("unseen"):
        assert f"the {name} " not in text and f"your {name}:" not in text
    statements = set(re.findall("^.*$", text, re.MULTILINE))
    words = grammar()["statements"]
    for kind in UNSEEN_KINDS:
        if kind.object != "named":
            said = words[kind.object or "aside"][kind.about].rstrip(".").lower()
            plain = {line.rstrip(".").lower().partition("you play")[0] for line in statements}
            form = f"it is false that {said}" if kind.denied else said
            assert form not in {line.rstrip(".") for line in plain}


def test_every_word_of_the_unseen_kinds_is_in_a_seen_kind():
    for kind in UNSEEN_KINDS:
        seen = [other for name in TRAINED for other in TEMPLATES[name]]
        assert any(other.about == kind.about for other in seen)
        assert any(other.object == kind.object for other in seen)
        assert any(other.denied == kind.denied for other in seen)


def test_splits_share_no_character():
    def characters(split):
        return {
            re.search("You play (.+)\\.", task.params["question"])[1]
            for task in tasks(split, "named", 200)
        }

    seen = characters("train"), characters("dev"), characters("test")
    assert not (seen[0] & seen[1] or seen[0] & seen[2] or seen[1] & seen[2])


def test_thoughts_quote_the_texts_and_end_with_what_follows():
    findings = Counter()
    for template in TRAINED:
        for task in tasks("train", template, 100):
            lines = SOURCE.thought(task, [], "").split("\n")
            denied = lines.pop() == "denied" if lines[-1] == "denied" else False
            *lines, finding, claim, same = lines
            assert (same == "same") == (claim == f"claimed {finding}")
            assert ((same == "same") != denied) == (task.checks[0].params["label"] == "met")
            shown = task.params["question"] + "\n" + task.params["reply"]
            assert all(line in shown for line in lines)
            findings[finding] += 1
    assert set(ACTS) <= set(findings) <= {*ACTS, "persons", "known", "questions", "foreign", "none"}


def test_pairs_differ_only_in_the_reply_and_the_first_fulfils_the_statement():
    acts = set()
    for template in TRAINED:
        for task in tasks("train", template, 50):
            pair = SOURCE.preference(task)
            question, _, statement = pair.question.rpartition("\n")
            params = {"question": question, "statement": statement}
            for reply, holds in ((pair.chosen, True), (pair.rejected, False)):
                judged = task.model_copy(update={"params": {**params, "reply": reply}})
                assert reading(judged) is holds
            acts.add(pair.act)
    assert set(ACTS) <= acts


@pytest.mark.parametrize("template", VERDICT_TEMPLATES)
def test_labels_for_audits_are_balanced_and_their_rubric_reads_back(template, tmp_path):
    rubric, replies = label_verdicts(template, 3, 48)
    file = tmp_path / "rubric.toml"
    file.write_text(rubric_text(rubric))
    assert read_rubric(file).hash == rubric.hash
    assert len(replies) == 48 and all(len(reply.labels) == 1 for reply in replies)
    met = sum("met" in reply.labels.values() for reply in replies)
    assert abs(met - 24) <= len(rubric.criteria)
    assert label_verdicts(template, 3, 24)[1] == replies[:24]
    assert label_verdicts(template, 4, 24)[1] != replies[:24]


def test_verdicts_are_json_and_the_likeness_is_an_f1():
    task = SOURCE.build("verdicts/named/tiny/dev/00000")
    verdict = json.loads(next(SOURCE.oracle(task)))
    assert list(verdict) == ["evidence", "label"]
    assert likeness_of_critiques("a b c d", "a b") == pytest.approx(2 * 2 / 6)
    assert likeness_of_critiques("", "a") == 0.0 == likeness_of_critiques("b", "a")
    assert likeness_of_critiques("我听见了。", "我看见了。") == pytest.approx(3 / 4)
