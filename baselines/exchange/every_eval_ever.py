"""Results of a run as Every Eval Ever records: one aggregate, and one row per trial.

Trials without a score are rows with an error and do not enter the aggregate, as in our reports.

Format: `every-eval-ever` 0.3, schema 0.3.0; written without the package.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hexathlon.baselines.exchange.transcript import ChatTranscript
from hexathlon.baselines.harness.report import read_run
from hexathlon.evaluators.records.plan import plan_hash, read_plan

__all__ = ["write_records"]

VERSION = "0.3.0"


def write_records(run: Path, conversations: Iterable[ChatTranscript], out: Path) -> list[Path]:
    """Write a run's records below `out`, in the layout of the public collection.

    Args:
        run: The run directory.
        conversations: Its trials.
        out: Directory to write to.

    Returns:
        The aggregate record and the file of instances.
    """
    plan, read = read_plan(run), read_run(run)
    digest, version = plan_hash(plan), plan["code"]["packages"].get("hexathlon")
    name = str(plan["model"]["name"])
    model = name if "/" in name else f"{plan['model']['kind']}/{name}"
    identity = str(uuid.UUID(bytes=hashlib.sha256(digest.encode()).digest()[:16], version=4))
    developer, _, rest = model.partition("/")
    place = Path("data", "hexathlon", _portable(developer), _portable(rest))
    rows = [_instance(each, digest, model) for each in conversations]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    samples = place / f"{identity}_samples.jsonl"
    (out / place).mkdir(parents=True, exist_ok=True)
    (out / samples).write_text(text, encoding="utf-8")
    record = {
        "schema_version": VERSION,
        "evaluation_id": digest,
        "retrieved_timestamp": plan["created"],
        "evaluation_timestamp": plan["created"],
        "source_metadata": {
            "source_type": "evaluation_run", "source_organization_name": "Hexathlon",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "hexathlon", "version": version or "unknown"},
        "model_info": {
            "name": name, "id": model, "developer": developer, "additional_details": {
                "deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            _result(each, plan, digest) for each in read.summary.envs if each.score.interval
        ],
        "detailed_evaluation_results": {
            "format": "jsonl", "file_path": samples.as_posix(), "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(text.encode()).hexdigest(), "total_rows": len(rows),
        },
    }  # fmt: skip
    aggregate = out / place / f"{identity}.json"
    aggregate.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [aggregate, out / samples]


def _result(summary: Any, plan: Any, digest: str) -> dict[str, Any]:
    interval, score = summary.score.interval, summary.score
    entry = next(each for each in plan["envs"] if each["id"] == summary.env)
    return {
        "evaluation_name": summary.env,
        "evaluation_result_id": f"{digest[:16]}:{summary.env}",
        "source_data": {
            "dataset_name": str(entry["taskset"]), "source_type": "other",
            "additional_details": {"split": str(entry["split"]), "level": str(entry["level"]),
                                   "taskset_hash": str(entry["taskset_hash"])},
        },
        "metric_config": {
            "metric_id": "mean_reward", "metric_name": "mean reward", "lower_is_better": False,
            "score_type": "continuous", "min_score": 0.0, "max_score": 1.0,
        },
        "score_details": {
            "score": interval.mean,
            "uncertainty": {
                "confidence_interval": {"lower": interval.low, "upper": interval.high,
                                        "confidence_level": 0.95},
                "num_samples": score.scored,
            },
        },
    }  # fmt: skip


def _instance(each: ChatTranscript, digest: str, model: str) -> dict[str, Any]:
    messages = [_message(at, message) for at, message in enumerate(each.messages)]
    last = max((at for at, m in enumerate(each.messages) if m["role"] == "assistant"), default=0)
    calls = sum(len(message.get("tool_calls") or ()) for message in each.messages)
    turns = sum(message["role"] == "assistant" for message in each.messages)
    identity = f"{each.env}|{each.task}|{each.seed}|{each.trial}"
    return {
        "schema_version": VERSION,
        "evaluation_id": digest,
        "model_id": model,
        "evaluation_name": each.env,
        "evaluation_result_id": f"{digest[:16]}:{each.env}",
        "sample_id": identity,
        "sample_hash": hashlib.sha256(identity.encode()).hexdigest(),
        "interaction_type": "agentic",
        "input": {"raw": next((m["content"] or "" for m in messages if m["role"] == "user"), ""),
                  "reference": []},
        "messages": messages,
        "answer_attribution": [{
            "turn_idx": last, "source": "final_state", "extracted_value": each.stop,
            "extraction_method": "verifier", "is_terminal": True,
        }],
        "evaluation": {"score": each.reward or 0.0, "is_correct": each.reward == 1.0,
                       "num_turns": max(turns, 1), "tool_calls_count": calls},
        **({} if each.reward is not None else {"error": each.error or "the episode has no score"}),
    }  # fmt: skip


def _message(at: int, message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(part.get("text", "[image]") for part in content)
    row: dict[str, Any] = {"turn_idx": at, "role": message["role"], "content": content}
    if calls := message.get("tool_calls"):
        row["tool_calls"] = [
            {"id": call["id"], "name": call["function"]["name"],
             "arguments": json.loads(call["function"]["arguments"])}
            for call in calls
        ]  # fmt: skip
    if "tool_call_id" in message:
        row["tool_call_id"] = [message["tool_call_id"]]
    return row


def _portable(name: str) -> str:
    """Return a path component as the public collection spells it."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
