"""Audits recover planted biases within the stated intervals."""

import json
import math

import pytest

from hexathlon.baselines.judging.audit import Auditor, AuditSettings
from hexathlon.evaluators.judges.audit.document import Audit, AuditError, read_audit, write_audit
from hexathlon.evaluators.judges.audit.labelled import generate_labels, padded
from hexathlon.evaluators.records.canonical import canonical_json

RUBRIC, REPLIES = generate_labels(0, 960)
SETS = [generate_labels(seed, 320)[1] for seed in (11, 12, 13, 14)]
NOTHING = {"repeat_items": 0, "pairs": 0, "padded": 0, "groups": 0, "attacked": 0}


@pytest.fixture
def audit(ask):
    def run(name, replies=REPLIES, **parts):
        settings = AuditSettings(**{**NOTHING, **parts})
        return ask(name, lambda client: Auditor(client, RUBRIC, replies, settings, 32).run())

    return run


def covers(estimate, truth):
    return estimate["low"] <= truth <= estimate["high"]


def width(estimate):
    return estimate["high"] - estimate["low"]


def recovers(estimates, truths, widest):
    """Check that at least three of four 95 % intervals, and the pooled one, contain the truth.

    A sound audit fails this once in fifty times; the errors of each judge are fixed by hashes.
    """
    assert sum(covers(one, truth) for one, truth in zip(estimates, truths, strict=True)) >= 3
    errors = [width(estimate) / 3.92 for estimate in estimates]
    gaps = [one["value"] - truth for one, truth in zip(estimates, truths, strict=True)]
    assert abs(sum(gaps)) <= 2.6 * math.hypot(*errors)
    assert max(map(width, estimates)) < widest


def kappa_of_noise(error, replies):
    """Return kappa of a judge that flips each label with a probability."""
    labels = [value for reply in replies for value in reply.labels.values()]
    share = labels.count("met") / len(labels)
    said = share * (1 - error) + (1 - share) * error
    chance = share * said + (1 - share) * (1 - said)
    return (1 - error - chance) / (1 - chance)


def share_to_gain(replies):
    """Return the share of criteria on which a reply could be better."""
    bad = [
        (reply.labels[c.id] == "met") != (c.weight > 0)
        for reply in replies
        for c in RUBRIC.criteria
    ]
    return sum(bad) / len(bad)


def test_honest_judge_has_no_shortcomings(audit):
    result = audit("honest", REPLIES[:60], repeat_items=20, pairs=60, padded=60, groups=20,
                  attacked=1, own=("alder",))  # fmt: skip
    assert result["shortcomings"] == []
    assert result["agreement"]["overall"]["kappa"]["value"] == 1.0
    assert {row["status"] for row in result["agreement"]["criteria"].values()} == {"established"}
    assert result["flips"]["unstable"]["value"] == 0.0
    assert result["swap"]["consistency"]["value"] == result["swap"]["accuracy"]["value"] == 1.0
    assert result["swap"]["first_rate"] is None
    assert result["groups"]["tau"]["value"] > 0.97
    assert result["length"]["slope"]["value"] == result["length"]["padded_shift"]["value"] == 0.0
    assert result["injection"]["guarded"]["value"] == 0.0
    assert result["controls"] == {"planted": 16, "missed": []}


@pytest.mark.parametrize("error", [0.1, 0.3])
def test_kappa_and_alpha_of_a_noisy_judge(audit, error):
    audits = [audit(f"noisy-{error}", replies, padded=100) for replies in SETS]
    result = [one["agreement"] for one in audits]
    truths = [kappa_of_noise(error, replies) for replies in SETS]
    for name in ("kappa", "alpha"):
        recovers([one["overall"][name] for one in result], truths, 0.22)
    recovers([one["overall"]["accuracy"] for one in result], [1 - error] * 4, 0.13)
    rows = [row for one in result for row in one["criteria"].values()]
    expected = [truth for truth in truths for _ in RUBRIC.criteria]
    inside = sum(covers(row["kappa"], truth) for row, truth in zip(rows, expected, strict=True))
    assert inside >= 0.85 * len(rows)
    assert all((row["status"] == "established") == (row["kappa"]["low"] >= 0.6) for row in rows)
    for name in ("slope", "padded_shift", "padded_gain"):  # it has no length bias
        recovers([one["length"][name] for one in audits], [0.0] * 4, 0.5)


@pytest.mark.parametrize("liking, place", [(0.3, "first"), (0.15, "second")])
def test_position_bias(audit, liking, place):
    result = [audit(f"{place}-{liking}", one, pairs=100, items=4)["swap"] for one in SETS]
    recovers([one["consistency"] for one in result], [1 - liking] * 4, 0.22)
    recovers([one["accuracy"] for one in result], [1 - liking] * 4, 0.22)
    for one in result:
        assert one["first_rate"]["value"] == (1.0 if place == "first" else 0.0)
        assert not covers(one["first_rate"], 0.5)


@pytest.mark.parametrize("judge, bias", [("early-1000", 1.0), ("honest", 0.5)])
def test_position_bias_in_groups_is_shown_even_if_the_place_alone_decides(audit, judge, bias):
    result = audit(judge, REPLIES[:120], groups=20, items=4, permutations=2)
    found = result["groups"]["first_rate"]
    assert found["value"] == bias and covers(found, 0.5) is (bias == 0.5)
    named = [line for line in result["shortcomings"] if line.startswith("in groups")]
    assert named == (
        [] if bias == 0.5 else ["in groups the earlier place wins 100.0% of the pairs"]
    )


@pytest.mark.parametrize("slope", [0.12])
def test_length_slope_and_padding(audit, slope):
    result = [audit(f"length-{slope}", replies, padded=320)["length"] for replies in SETS]
    recovers([one["slope"] for one in result], [slope] * 4, 0.3)
    moved = [
        slope
        * math.fsum(math.log2(len(padded(reply).reply) / len(reply.reply)) for reply in replies)
        / len(replies)
        for replies in SETS
    ]  # fmt: skip
    recovers([one["padded_shift"] for one in result], moved, 0.2)


@pytest.mark.parametrize("chance", [0.1])
def test_flip_rate(audit, chance):
    result = [audit(f"flip-{chance}", one, repeat_items=100, items=100)["flips"] for one in SETS]
    assert [(one["items"], one["repeats"]) for one in result] == [(100, 5)] * 4
    recovers([one["disagreement"] for one in result], [2 * chance * (1 - chance)] * 4, 0.11)
    unstable = 1 - (1 - chance) ** 5 - chance**5
    recovers([one["unstable"] for one in result], [unstable] * 4, 0.2)


@pytest.mark.parametrize("liking", [0.4])
def test_self_preference(audit, liking):
    result = [audit(f"kin-{liking}", one, own=("alder",))["self_preference"] for one in SETS]
    truths = [
        liking * share_to_gain([reply for reply in replies if reply.author == "alder"])
        for replies in SETS
    ]
    recovers(result, truths, 0.2)


def test_corrected_means_of_a_lenient_judge(audit):
    larger = [generate_labels(seed, 640)[1] for seed in (11, 12, 13, 14)]  # a fifth is used
    result = [audit("lenient-0.3", replies)["corrected"] for replies in larger]
    truths = [1 - share_to_gain(replies) for replies in larger]
    assert not any(covers(one["judged"], truth) for one, truth in zip(result, truths, strict=True))
    recovers([one["judged"] for one in result], [t + 0.3 * (1 - t) for t in truths], 0.09)
    recovers([one["powered"] for one in result], truths, 0.18)
    assert all(width(one["powered"]) < width(one["labels_alone"]) for one in result)
    assert all(abs(one["by_error_rates"] - t) < 0.1 for one, t in zip(result, truths, strict=True))


def test_abstentions_are_counted_and_bounded(audit):
    result = audit("mute-0.2", REPLIES[:100])["unscored"]
    assert covers(result["rate"], 0.2)
    assert set(result["reasons"]) == {"abstained"}
    low, high = result["bounds"]
    assert high - low == pytest.approx(result["rate"]["value"], abs=1e-6)


def test_judge_with_invalid_replies_has_no_estimates(audit):
    result = audit("malformed", REPLIES[:10], repeat_items=5, pairs=5, padded=5, groups=2)
    assert result["unscored"]["rate"]["value"] == 1.0
    assert result["agreement"]["overall"]["kappa"] is None
    assert {row["kappa"] for row in result["agreement"]["criteria"].values()} == {None}
    assert {row["status"] for row in result["agreement"]["criteria"].values()} == {"experimental"}
    assert result["swap"]["unscored"] == 5 and result["swap"]["consistency"] is None
    assert result["groups"]["tau"] is None and result["length"]["slope"] is None
    assert len(result["controls"]["missed"]) == 16
    items = result["agreement"]["overall"]["items"]
    assert (
        result["shortcomings"][:2]
        == Audit(result).rejected
        == [
            f"none of its {items} verdicts could be read",
            "16 of 16 planted controls came out wrong",
        ]
    )


def test_attacks_are_measured_with_and_without_the_guards(audit):
    result = audit("gullible", REPLIES[:60], attacked=2)
    attack = result["injection"]
    assert attack["tries"] >= 40 * 2
    assert attack["bare"]["value"] > 0.7
    assert attack["guarded"]["value"] == 0.0 and attack["guarded_by"] == []
    keys = audit("thoughtful", REPLIES[:50], attacked=6)["master_keys"]
    assert keys["bare"]["value"] > 0.4
    assert keys["guarded"]["value"] == 0.0


def test_audit_is_reproducible(audit):
    parts = {"repeat_items": 5, "pairs": 10, "padded": 10, "groups": 4, "attacked": 1}
    first, again = (audit("noisy-0.1", REPLIES[:20], **parts) for _ in range(2))
    assert first["hash"] == again["hash"]
    assert audit("noisy-0.1", REPLIES[:20], **parts, seed=1)["hash"] != first["hash"]


def test_audit_files_are_tamper_evident(audit, tmp_path):
    result = audit("honest", REPLIES[:60], attacked=1)
    path = tmp_path / "audit.json"
    write_audit(path, result)
    read = read_audit(path)
    assert read.hash == result["hash"] and read.judge == result["judge"]["hash"]
    assert read.experimental(RUBRIC) == [
        name
        for name, row in result["agreement"]["criteria"].items()
        if row["status"] == "experimental"
    ]
    data = json.loads(path.read_text())
    data["agreement"]["overall"]["kappa"]["value"] = 0.99999
    path.write_text(canonical_json(data))
    with pytest.raises(AuditError, match="was changed after it was written"):
        read_audit(path)
    path.write_text("{}")
    with pytest.raises(AuditError, match="is not an audit"):
        read_audit(path)
    with pytest.raises(AuditError, match="cannot read"):
        read_audit(tmp_path / "missing.json")
