"""Times TRL's GRPOTrainer on the trainer workload; prints one JSON line.

Executed by the peer's own interpreter: `python trl_grpo.py THREADS STEPS FOLDER`. FOLDER gets the
first step's batch with its loss and gradients, for comparison with hexathlon's.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
import trainer_workload as work
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


def tokenizer() -> PreTrainedTokenizerFast:
    """256 byte-level symbols in the order of the bytes, then pad, begin and end."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    symbols = {byte: chr(byte) for byte in shown}
    symbols |= {byte: chr(256 + place) for place, byte in enumerate(hidden)}
    vocabulary = {symbols[byte]: byte for byte in range(256)}
    vocabulary |= {"<pad>": work.PAD, "<bos>": work.BEGIN, "<eos>": work.END}
    raw = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        padding_side="left",
    )


class Timed(GRPOTrainer):
    """Records generation and update times of each step, and the data of the first one."""

    folder: Path

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.spent: list[dict[str, float]] = []
        self.generating = 0.0

    def _generate_single_turn(self, *args, **kwargs):
        started = time.perf_counter()
        result = super()._generate_single_turn(*args, **kwargs)
        self.generating = time.perf_counter() - started
        return result

    def training_step(self, model, inputs, num_items_in_batch):
        started = time.perf_counter()
        loss = super().training_step(model, inputs, num_items_in_batch)
        self.spent.append({"generate_s": self.generating, "work_s": time.perf_counter() - started})
        if len(self.spent) == 1:
            self.keep(model, loss)
        return loss

    def _compute_loss(self, model, inputs):
        self.seen = {
            name: inputs[name].cpu()
            for name in ("prompt_ids", "completion_ids", "completion_mask", "advantages")
        }
        return super()._compute_loss(model, inputs)

    def keep(self, model, loss) -> None:
        gradients = {name: p.grad.clone() for name, p in model.named_parameters()}
        torch.save({**self.seen, "loss": loss, "gradients": gradients}, self.folder / "first.pt")


class Clock(TrainerCallback):
    """Records the duration of whole steps."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def on_step_begin(self, *args, **kwargs) -> None:
        self.begun = time.perf_counter(), time.process_time()

    def on_step_end(self, *args, **kwargs) -> None:
        self.wall.append(time.perf_counter() - self.begun[0])
        self.cpu.append(time.process_time() - self.begun[1])


def main(threads: int, steps: int, folder: Path) -> None:
    torch.set_num_threads(threads)
    config = GRPOConfig(
        output_dir=str(folder),
        per_device_train_batch_size=work.GROUPS * work.MEMBERS,
        num_generations=work.MEMBERS,
        max_completion_length=work.COMPLETION,
        generation_kwargs={"min_new_tokens": work.COMPLETION},
        temperature=1.0,
        beta=0.0,
        learning_rate=work.LEARNING_RATE,
        gradient_checkpointing=False,
        max_steps=steps,
        use_cpu=True,
        bf16=False,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_strategy="no",
        seed=0,
    )
    clock = Clock()
    trainer = Timed(
        model=work.make_model(),
        reward_funcs=lambda completions, **_: [work.reward(text) for text in completions],
        args=config,
        train_dataset=Dataset.from_dict({"prompt": work.prompts()}),
        processing_class=tokenizer(),
        callbacks=[clock],
    )
    trainer.folder = folder
    trainer.train()
    print(
        json.dumps(
            {
                "wall_s": clock.wall,
                "cpu_s": clock.cpu,
                "generate_s": [one["generate_s"] for one in trainer.spent],
                "work_s": [one["work_s"] for one in trainer.spent],
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
