"""Judging turn by turn and by first errors, written criteria, and the gap between two judges."""

import pytest

from hexathlon.evaluators.judged.consistency import judged_contradictions
from hexathlon.evaluators.judged.file import judged_files, last_of_trials, read_judged
from hexathlon.evaluators.judges.rubric_files import get_rubric, parse_rubric, rubric_text
from hexathlon_cli.app import run
from support.judged import judge
from support.runs import make_run

SUMS = ("2 + 2 = 4", "4 + 3 = 8", "8 + 1 = 9")


@pytest.fixture
def adding(tmp_path):
    """A run in which every second trial has a wrong sum in its second turn."""

    def edit(record):
        place = edit.count
        edit.count += 1
        said = SUMS if place % 2 else ("2 + 2 = 4", "4 + 3 = 7", "7 + 1 = 8")
        steps = [
            {"index": index, "action": text, "observation": "Go on.", "reward": 0.0,
             "status": "ongoing" if index < 2 else "completed"}
            for index, text in enumerate(said)
        ]  # fmt: skip
        return {**record, "opening": "Add up.", "steps": steps, "turns": 3}

    edit.count = 0
    return make_run(tmp_path / "run", "cirrus-8b", tasks=8, edit=edit, infra=0.0)


def lines_of(folder):
    (path,) = judged_files(folder)
    file = read_judged(path)
    assert list(judged_contradictions(file, folder)) == []
    return file, last_of_trials(file.lines)


def test_first_errors_of_a_run(adding, judges):
    line = ["judge", str(adding), "--model", judges.model("honest"), "--kind", "first_error"]
    assert run(line) == 0
    file, lines = lines_of(adding)
    assert file.header["kind"] == "first_error" and len(lines) == 8
    wrong = [row for row in lines if row["score"] == 0.0]
    assert len(wrong) == 4
    assert {row["judges"][0]["turn"] for row in wrong} == {3}
    assert {row["judges"][0]["quote"] for row in wrong} == {"4 + 3 = 8"}
    assert {row["judges"][0]["label"] for row in lines} == {"error", "no_error"}


def test_turns_of_a_run(adding, judges):
    line = ["judge", str(adding), "--model", judges.model("honest"), "--kind", "turns"]
    assert run([*line, "--rubric", "shopkeeper"]) in (0, 2)
    _, lines = lines_of(adding)
    decided = [one for row in lines for one in row["judges"] if "turns" in one.get("details", {})]
    assert decided and all(len(one["details"]["turns"]) == 3 for one in decided)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--kind", "turns"], "needs a model"),
        (["--kind", "first_error", "--rubric", "roleplay", "--model", "MODEL"], "of its own"),
    ],
)
def test_contradictory_options_are_refused(adding, judges, capsys, more, message):
    more = [judges.model("honest") if part == "MODEL" else part for part in more]
    assert run(["judge", str(adding), *more]) == 1
    assert message in capsys.readouterr().err


def test_a_judge_writes_criteria_before_it_sees_an_answer(judges, tmp_path, capsys):
    question, out = tmp_path / "question.txt", tmp_path / "written.toml"
    question.write_text("Rope is 7 crowns, a kettle 19 crowns. What are they?", "utf-8")
    line = ["judge", "criteria", "--model", judges.model("honest"), "--out", str(out)]
    assert run([*line, "--question", str(question)]) == 0
    written = parse_rubric(out.read_text("utf-8"), "written")
    assert written.made_from and len(written.criteria) >= 3
    assert run(["judge", "lint", str(out)]) == 0
    assert run([*line, "--task", "roleplay/secret/easy/test/00001", "--least", "1"]) == 0
    assert parse_rubric(out.read_text("utf-8"), "written").made_from != written.made_from
    assert run(line) == 1
    assert "either --question FILE or --task ID" in capsys.readouterr().err
    line[3] = judges.model("malformed")
    before = out.read_bytes()
    assert run([*line, "--question", str(question)]) == 2 and out.read_bytes() == before


@pytest.mark.parametrize("name", ["roleplay", "shopkeeper", "first_error"])
def test_a_rubric_written_as_text_is_read_as_the_same(name):
    rubric = get_rubric(name)
    assert parse_rubric(rubric_text(rubric), name).hash == rubric.hash
    odd = rubric.model_copy(update={"title": 'a "quoted" \\ line\nand\ttab \x7f \x01 é 雨'})
    assert parse_rubric(rubric_text(odd), name).title == odd.title


def series(tmp_path, name, shares):
    folders = []
    for place, (reward, other) in enumerate(shares):
        folder = make_run(tmp_path / f"{name}{place}", "cirrus-8b", tasks=20, infra=0.0)
        judge(folder, share=reward, judges=[{"model": "trained"}])
        judge(folder, share=other, judges=[{"model": "fresh"}])
        folders.append(str(folder))
    return folders


def test_a_growing_gap_raises_the_alarm(tmp_path, capsys):
    names = ["--reward", "trained", "--held-out", "fresh"]
    apart = series(tmp_path, "apart", [(0.3, 0.3), (0.5, 0.35), (0.7, 0.4), (0.9, 0.45)])
    assert run(["judge", "gap", *apart, *names]) == 3
    assert "Alarm" in capsys.readouterr().out
    close = series(tmp_path, "close", [(0.3, 0.25), (0.5, 0.5), (0.7, 0.65), (0.9, 0.9)])
    assert run(["judge", "gap", *close, *names]) == 0
    assert run(["judge", "gap", *close[:2], *names]) == 1
    assert "at least 4" in capsys.readouterr().err
    assert run(["judge", "gap", *close, "--reward", "trained", "--held-out", "nobody"]) == 1
    assert "its judges: " in capsys.readouterr().err
