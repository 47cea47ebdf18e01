"""`rollout_func` of TRL's trainers, with scripted completions."""

import contextlib
import re
from types import SimpleNamespace
from typing import Any

from bridges.contract import Played, described
from bridges.tokenizers import tiny_tokenizer

from hexathlon.baselines.bridges.trl_rollout import episode_reward, rollout_function


class Client(contextlib.ExitStack):
    sees = False
    tells_the_end = False

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.event, self.settings = event, settings
        self.tokenizer = tiny_tokenizer()

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        script = iter(actions)

        def sample(trainer: Any, prompts: Any) -> Any:
            text = f"{next(script)}<|im_end|>"
            return [self.tokenizer.encode(text, add_special_tokens=False) for _ in prompts], None

        play = rollout_function(self.event, seed=seed, sample=sample, **self.settings)
        trainer = SimpleNamespace(processing_class=self.tokenizer, max_completion_length=10**6)
        prompt = [{"role": "user", "content": task}]
        out = play([prompt], trainer)
        assert next(script, None) is None
        (ids,), (mask,) = out["completion_ids"], out["env_mask"]
        sampled = [token for token, mine in zip(ids, mask, strict=True) if mine]
        assert self.tokenizer.decode(sampled) == "".join(f"{each}<|im_end|>" for each in actions)
        conversation = self.tokenizer.decode(out["prompt_ids"][0] + ids)
        _, system, opening, *turns = re.split(r"<\|im_start\|>(?:system|user|assistant)\n",
                                              conversation.replace("<|im_end|>\n", ""))  # fmt: skip
        assert tuple(each.removesuffix("<|im_end|>") for each in turns[::2]) == actions
        texts = tuple(turns[1::2])
        return Played(task, seed, actions, opening, texts,
                      episode_reward(**out)[0], True, described(system))  # fmt: skip
