"""Plays tau2's retail tasks by their reference actions; executed by the peer's own interpreter.

    python tau2_retail.py TASKS

An episode is a fresh environment, the reference's tool calls through `get_response`, and the reward
of the final database, by tau2's own evaluator; its orchestrator is left out. Each line of input
starts a round and is answered with a line of JSON: tasks, tool calls, CPU seconds. The first line
of output is the folder of the package's data.
"""

import json
import sys
import time
from pathlib import Path

from loguru import logger
from tau2.data_model.message import AssistantMessage, ToolCall
from tau2.domains.retail.environment import get_environment, get_tasks
from tau2.domains.retail.utils import RETAIL_DB_PATH
from tau2.evaluator.evaluator_env import EnvironmentEvaluator

logger.remove()


def episode(task):
    env = get_environment()
    trajectory = []
    for number, action in enumerate(task.evaluation_criteria.actions):
        call = ToolCall(id=str(number), name=action.name, arguments=action.arguments)
        trajectory.append(AssistantMessage(role="assistant", tool_calls=[call]))
        trajectory.append(env.get_response(call))
    reward = EnvironmentEvaluator.calculate_reward(get_environment, task, trajectory)
    assert reward.db_check.db_match, task.id
    return len(task.evaluation_criteria.actions)


def main() -> None:
    tasks = get_tasks("train")[: int(sys.argv[1])]
    print(json.dumps({"data": str(Path(RETAIL_DB_PATH).parent)}), flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        calls = sum(episode(task) for task in tasks)
        spent = time.process_time() - start
        print(json.dumps({"tasks": len(tasks), "calls": calls, "cpu_s": spent}), flush=True)


if __name__ == "__main__":
    main()
