"""Passes of speculative decoding: tokens are proposed, checked together, and kept if sampled."""

import time
from collections.abc import Sequence as Items
from typing import NamedTuple

import torch

from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.sampler import RowSampling, entropies, sample
from hexathlon.baselines.engines.local.sequences import CacheRow, Sequence, wants_entropies
from hexathlon.baselines.engines.local.speculation import NgramDrafter, Pace
from hexathlon.baselines.engines.local.store import KeyValueStore

__all__ = ["Lookahead"]


class _Drawn(NamedTuple):
    """What was sampled after each token of a row's input."""

    tokens: list[int]
    log_probabilities: list[float]
    entropies: list[float] | None


class Lookahead:
    """Proposes tokens and takes those that plain sampling would draw.

    Args:
        longest: Maximum number of tokens that are proposed per pass.
    """

    def __init__(self, longest: int) -> None:
        self._drafter = NgramDrafter()
        self._pace = Pace(longest)
        self._started = 0.0
        self.proposed_tokens = 0
        self.accepted_tokens = 0

    def observe(self, sequence: Sequence) -> None:
        """Remember the tokens of a sequence that are new since the last call."""
        self._drafter.observe(sequence.ids, sequence.observed)
        sequence.observed = len(sequence.ids)

    def length(self, rows: int) -> int:
        """Return how many tokens to propose for each of `rows` sequences; starts the clock."""
        self._started = time.perf_counter()
        return self._pace.choose(rows)

    def measured(self, rows: int, length: int) -> None:
        """Note the time since `length` was called as that of a pass with proposals of a length."""
        self._pace.measured(rows, length, time.perf_counter() - self._started)

    def propose(self, sequences: Items[Sequence], length: int) -> list[list[int]]:
        """Return at most `length` tokens for each sequence, within its limit."""
        proposed = []
        for sequence in sequences:
            self.observe(sequence)
            room = sequence.request.sampling.max_tokens - len(sequence.sampled) - 1
            proposed.append(self._drafter.propose(sequence.ids, min(length, room)))
        return proposed

    def check(
        self, decoder: LlamaDecoder, store: KeyValueStore, rows: Items[CacheRow],
        proposed: list[list[int]], settings: RowSampling, context: int, version: int,
    ) -> int:  # fmt: skip
        """Take the sampled tokens of the first rows until one differs from the proposed one.

        Args:
            decoder: The model.
            store: Has room for the proposed tokens of every row.
            rows: The first rows, each with a sequence.
            proposed: Tokens for each row.
            settings: Sampling parameters of the rows.
            context: Maximum number of tokens of a sequence.
            version: Version of the policy.

        Returns:
            The number of tokens taken.
        """
        sequences = [row.sequence for row in rows if row.sequence is not None]
        pairs = zip(sequences, proposed, strict=True)
        given = [[sequence.ids[-1], *tokens] for sequence, tokens in pairs]
        drawn = _drawn(decoder, store, rows, sequences, given, settings)
        total = 0
        for row, sequence, inputs, outputs in zip(rows, sequences, given, drawn, strict=True):
            taken = _take(row, sequence, inputs, outputs, context, version)
            self.proposed_tokens += len(inputs) - 1
            self.accepted_tokens += taken - 1
            self._pace.judged(taken - 1, int(taken < len(inputs)))
            total += taken
        return total


def _drawn(
    decoder: LlamaDecoder, store: KeyValueStore, rows: Items[CacheRow], sequences: list[Sequence],
    given: list[list[int]], settings: RowSampling,
) -> list[_Drawn]:  # fmt: skip
    """Sample after each input token, with the number of its place."""
    width, device = max(map(len, given)), decoder.device
    ids = torch.tensor([each + [0] * (width - len(each)) for each in given], device=device)
    starts = torch.tensor([len(row.ids) for row in rows], device=device)
    logits = decoder.verify(ids, starts, store).flatten(0, 1)
    ahead = [sequence.draws.ahead(width) for sequence in sequences]
    numbers = [each + [0.0] * (width - len(each)) for each in ahead]
    flat = torch.tensor(numbers, device=device).view(-1, 1)
    chosen, values = sample(logits, settings.repeated(width), flat)
    tokens, log_probabilities = (each.view(-1, width).tolist() for each in (chosen, values))
    spread: list[list[float]] | list[None] = [None] * len(given)
    if wants_entropies(sequences):
        spread = entropies(logits).view(-1, width).tolist()
    return list(map(_Drawn, tokens, log_probabilities, spread))


def _take(
    row: CacheRow, sequence: Sequence, given: list[int], drawn: _Drawn, context: int, version: int
) -> int:
    for place, token in enumerate(given):
        row.ids.append(token)
        sequence.draws.take()
        sequence.take(drawn.tokens[place], drawn.log_probabilities[place], version)
        if drawn.entropies is not None and sequence.request.sampling.entropies:
            sequence.entropies.append(drawn.entropies[place])
        if (
            sequence.finish_reason(context) is not None
            or [drawn.tokens[place]] != given[place + 1 : place + 2]
        ):
            break
    return place + 1
