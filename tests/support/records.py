"""Trial records for tests."""

from hexathlon.evaluators.records.canonical import content_hash


def make_record(index: int = 0, **changes):
    state = {"answer": index}
    record = {
        "schema": "hexathlon.trial/1",
        "key": {
            "env": "test/Echo-v0",
            "task": f"echo/word/easy/test/{index:05d}",
            "seed": 0,
            "trial": 0,
        },
        "attempt": 1,
        "earlier": [],
        "task_hash": "b" * 64,
        "template": "word",
        "level": "easy",
        "split": "test",
        "stop": "completed",
        "status": "scored",
        "cause": None,
        "error": None,
        "reward": 1.0,
        "partial": None,
        "terms": {"equal": 1.0},
        "evidence": {},
        "checks": [{"name": "equal", "version": "1", "deterministic": True}],
        "judges": [],
        "usage": {"agent": {"input": 10, "output": 5, "calls": 1, "cost": None}},
        "turns": 1,
        "tool_errors": 0,
        "cut_chars": 0,
        "sandbox": "simulated",
        "flags": [],
        "system_prompt_hash": "c" * 64,
        "opening": "Say the word.",
        "steps": [
            {
                "index": 0,
                "action": "word",
                "observation": "thanks",
                "reward": 1.0,
                "status": "completed",
            }
        ],
        "final_state": state,
        "final_state_hash": content_hash(state),
        "env_version": "1",
        "timing": {"started": "2026-01-01T00:00:00Z", "agent": 0.1},
    }
    return {**record, **changes}
