"""Trajectories, results and task sets in the formats of others; packages where they exist."""

import json
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.exchange.atif import from_atif, to_atif
from hexathlon.baselines.exchange.finetuning import (
    from_openai,
    from_sharegpt,
    to_openai,
    to_sharegpt,
)
from hexathlon.baselines.exchange.transcript import ChatTranscript, actions_of, read_run_transcripts
from hexathlon.baselines.exchange.verifiers_traces import (
    from_episode,
    from_trace,
    to_episode,
    to_trace,
)
from hexathlon.leaderboard.build import build
from hexathlon_cli.app import run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs") / "noisy"
    line = ["eval", "agent:noisy:0.3", "--envs", "SQL", "--level", "tiny", "--tasks", "3"]
    assert run([*line, "--out", str(place)]) == 0
    return place


@pytest.fixture(scope="module")
def transcripts(finished: Path) -> list[ChatTranscript]:
    return list(read_run_transcripts(finished))


def test_a_transcript_is_the_episode(transcripts: list[ChatTranscript]) -> None:
    assert {each.reward for each in transcripts} <= {0.0, 1.0}
    for each in transcripts:
        assert [message["role"] for message in each.messages[:2]] == ["system", "user"]
        with BridgedEpisode(each.env) as episode:
            opening = episode.open(each.task, each.seed)
            assert each.messages[0]["content"] == opening.system_prompt
            assert each.messages[1]["content"] == opening.text
            assert each.tools == [*opening.tools]
            replies = [episode.act(action) for action in actions_of(each)]
        heard = [message["content"] for message in each.messages if message["role"] == "tool"]
        assert heard == [reply.text for reply in replies]
        assert replies[-1].reward == each.reward


@pytest.mark.parametrize(("write", "read"), [
    (ChatTranscript.as_json, ChatTranscript.from_json), (to_trace, from_trace),
    (to_episode, from_episode), (to_atif, from_atif),
])  # fmt: skip
def test_transcripts_survive_the_round_trip(write, read, transcripts) -> None:
    assert [read(json.loads(json.dumps(write(each)))) for each in transcripts] == transcripts


@pytest.mark.parametrize(
    ("write", "read"), [(to_openai, from_openai), (to_sharegpt, from_sharegpt)]
)
def test_fine_tuning_rows_keep_the_actions(write, read, transcripts) -> None:
    for each in transcripts:
        back = read(json.loads(json.dumps(write(each))))
        assert actions_of(back) == actions_of(each) and back.tools == each.tools
        assert [m["content"] for m in back.messages] == [m["content"] for m in each.messages]


@pytest.mark.parametrize("form", ["hexathlon", "verifiers", "atif"])
def test_imports_can_be_replayed(form: str, finished: Path, tmp_path: Path) -> None:
    place, back = tmp_path / "exported", tmp_path / "back.jsonl"
    assert run(["export", str(finished), "--format", form, "--out", str(place)]) == 0
    if form != "atif":
        place = place.rename(tmp_path / "exported.jsonl")
    assert run(["import", str(place), "--format", form, "--replay", "--out", str(back)]) == 0
    claims = [json.loads(line) for line in back.read_text().splitlines()]
    false = [{**claim, "reward": 1.0 - claim["reward"]} for claim in claims]
    back.write_text("".join(json.dumps(row) + "\n" for row in false))
    words = ["import", str(back), "--format", "hexathlon", "--replay", "--out", str(tmp_path / "o")]
    assert run(words) == 3


def test_terminal_trials_are_written_as_recordings(finished: Path, tmp_path: Path, capfd) -> None:
    assert run(["export", str(finished), "--format", "asciicast", "--out", str(tmp_path)]) == 1
    assert "has no commands to record" in capfd.readouterr().err
    trial = tmp_path / "run"
    assert run(["eval", "agent:oracle", "--envs", "Terminal", "--tasks", "1", "--level", "tiny",
                "--out", str(trial)]) == 0  # fmt: skip
    recordings = tmp_path / "recordings"
    assert run(["export", str(trial), "--format", "asciicast", "--out", str(recordings)]) == 0
    (path,) = recordings.iterdir()
    header, *events = map(json.loads, path.read_text("utf-8").splitlines())
    assert header["version"] == 2 and header["width"] == 80
    assert events[0][2].startswith("$ ") and "[exit status 0]" in events[1][2]
    times = [time for time, kind, _ in events if kind == "o"]
    assert len(times) == len(events) and times == sorted(times)


def test_an_unscored_trial_has_no_reward_anywhere() -> None:
    failed = ChatTranscript([{"role": "user", "content": "?"}], error="the disk is gone")
    trace = to_trace(failed)
    assert trace["rewards"] == {} and trace["errors"][0]["message"] == "the disk is gone"
    assert from_trace(trace).reward is None
    assert to_atif(failed)["extra"]["reward"] is None
    row = {**to_episode(failed), "traces": [], "errors": [{"message": "no model"}]}
    assert (from_episode(row).reward, from_episode(row).error) == (None, "no model")
    with pytest.raises(ValueError, match="got one with 2 traces"):
        from_episode({**row, "traces": [trace, trace]})


@pytest.mark.parametrize(("line", "said"), [
    ("export nowhere --out x", "expected a run directory"),
    ("export nowhere --format opnai --out x", "did you mean 'openai'"),
    ("import nowhere --out x", "there is no file"),
])  # fmt: skip
def test_bad_input_ends_in_a_sentence(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == 1 and said in capsys.readouterr().err


def test_results_are_records_of_every_eval_ever(finished: Path, tmp_path: Path) -> None:
    words = ["export", str(finished), "--format", "every-eval-ever", "--out", str(tmp_path)]
    assert run(words) == 0
    aggregate, samples = sorted(tmp_path.rglob("*.json*"))
    record = json.loads(aggregate.read_text())
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    mean = record["evaluation_results"][0]["score_details"]["score"]
    assert mean == pytest.approx(sum(row["evaluation"]["score"] for row in rows) / len(rows))
    assert record["detailed_evaluation_results"]["total_rows"] == len(rows) == 3
    pytest.importorskip("every_eval_ever", reason="scripts/bridges eee")
    done = subprocess.run(
        [sys.executable, "-m", "every_eval_ever", "validate",
         *(str(each.relative_to(tmp_path)) for each in (aggregate, samples))],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and "2 passed, 0 warning-only, 0 failed" in done.stdout


def test_a_leaderboards_lines_are_records_of_every_eval_ever(
    finished: Path, tmp_path: Path
) -> None:
    pytest.importorskip("every_eval_ever", reason="scripts/bridges eee")
    build([finished], tmp_path / "site")
    (line,) = (tmp_path / "site" / "every-eval-ever.jsonl").read_text().splitlines()
    place = tmp_path / "data" / "hexathlon" / json.loads(line)["model_info"]["id"]
    place.mkdir(parents=True)
    record = place / f"{uuid.uuid4()}.json"
    record.write_text(line)
    done = subprocess.run(
        [sys.executable, "-m", "every_eval_ever", "validate", str(record.relative_to(tmp_path))],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and "1 passed, 0 warning-only, 0 failed" in done.stdout


def test_task_sets_are_read_by_datasets(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="scripts/bridges eee trl")
    words = ["export", "SQL", "--format", "datasets", "--count", "2", "--out", str(tmp_path)]
    assert run(words) == 0
    table = parquet.read_table(tmp_path / "data" / "test.parquet").to_pylist()
    assert [set(json.loads(row["tools"])[0]) for row in table] == [
        {"name", "description", "parameters"}
    ] * 2
    assert (tmp_path / "README.md").read_text().startswith("---\nlicense: apache-2.0\n")
    datasets = pytest.importorskip("datasets", reason="scripts/bridges trl")
    read = datasets.load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))
    assert read["test"][0]["task"] == table[0]["task"] and set(read) == {"train", "dev", "test"}


def test_logs_of_inspect_are_read_and_written(
    transcripts: list[ChatTranscript], tmp_path: Path
) -> None:
    pytest.importorskip("inspect_ai", reason="scripts/bridges inspect")
    from hexathlon.baselines.exchange.inspect_logs import read_eval, write_eval

    write_eval(transcripts, tmp_path / "log.eval")
    back = sorted(read_eval(tmp_path / "log.eval"), key=lambda each: each.task)
    assert back == sorted(transcripts, key=lambda each: each.task)
    write_eval([ChatTranscript(transcripts[0].messages, error="no disk")], tmp_path / "x.eval")
    (unscored,) = read_eval(tmp_path / "x.eval")
    assert (unscored.reward, unscored.error) == (None, "no disk")
