"""Continuous batching: sequences join and leave between steps, one row each.

Rows 0 to n - 1 are active. Idle rows follow, which belong to episodes that wait for their
environment; their keys and values are reused if the next turn begins with the same tokens. The row
that has been idle longest is evicted first.

A prompt that another row started with, as in a group of rollouts of one task, is not prefilled
again: its keys, values and logits are copied, with results identical to continuing the other row.
A request that names the session it forks off (`TokenRequest.parent`) copies that session's keys and
values as far as its prompt begins with the same tokens.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.engines.errors import ContextOverflow, EngineError
from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.lookahead import Lookahead
from hexathlon.baselines.engines.local.sampler import RowSampling, entropies, sample
from hexathlon.baselines.engines.local.sequences import CacheRow, Sequence, wants_entropies
from hexathlon.baselines.engines.local.store import padded
from hexathlon.baselines.tokens.requests import EntropyScale, Finish

__all__ = ["Scheduler"]

_GROWTH = 256
_PREFILL_TOKENS = {"cpu": 1024}
"""Maximum number of tokens per prefill pass, including padding; on a CPU limited by its cache."""

_PREFILL_TOKENS_ELSEWHERE = 16_384


class _Admitted(NamedTuple):
    """Numbers of sequences admitted in a step, in the order of their rows."""

    known: int = 0
    """Prompts copied from the opening of another row."""

    read: int = 0
    """Prompts to prefill in this step."""

    same: int = 0
    """Duplicates of a prompt to prefill."""


class Scheduler:
    """Plans and runs the steps of a decoder.

    Args:
        decoder: The model.
        context: Maximum number of tokens of a sequence.
        batch: Maximum number of active sequences.
        rows: Maximum number of rows, including idle ones; at least `batch`.
        speculate: Maximum number of tokens that are proposed per pass; 0 for none.
    """

    def __init__(
        self, decoder: LlamaDecoder, context: int, batch: int, rows: int, speculate: int = 0
    ) -> None:
        self._decoder = decoder
        self._context = context
        self._batch = batch
        self._max_rows = max(rows, batch)
        self._waiting: list[Sequence] = []
        self._reset()
        self._sampling: RowSampling | None = None
        self._last: Tensor | None = None
        self._starts: Tensor | None = None
        self.version = 0
        self.drawn_tokens = 0
        self.read_tokens = 0
        self.forked_tokens = 0
        self._lookahead = Lookahead(speculate) if speculate else None
        self._scale: EntropyScale | None = None

    def _reset(self) -> None:
        self._store = self._decoder.store(min(8, self._max_rows), min(_GROWTH, self._context))
        self._rows = [CacheRow() for _ in range(self._store.rows)]
        self._active = 0
        self._steps = 0

    def clear(self) -> None:
        """Abort all sequences and drop all caches.

        Later results are then determined by later requests, bit for bit, since the assignment of
        rows no longer depends on earlier ones.
        """
        self.abort()
        self._reset()
        self._changed()

    @property
    def speculated_tokens(self) -> tuple[int, int]:
        """Number of tokens proposed by speculation, and of those accepted."""
        ahead = self._lookahead
        return (0, 0) if ahead is None else (ahead.proposed_tokens, ahead.accepted_tokens)

    @property
    def entropy_scale(self) -> EntropyScale | None:
        """Scale of the requests with heat."""
        return self._scale

    @entropy_scale.setter
    def entropy_scale(self, scale: EntropyScale | None) -> None:
        self._scale, self._sampling = scale, None

    @property
    def busy(self) -> bool:
        """Whether there are active or waiting sequences."""
        return bool(self._active or self._waiting)

    def add(self, sequence: Sequence) -> None:
        """Queue a request.

        Raises:
            EngineError: If its prompt is empty.
            ContextOverflow: If its prompt leaves no room for a reply.
        """
        length = len(sequence.ids)
        if length == 0:
            raise EngineError("the prompt is empty: expected at least one token")
        if length >= self._context:
            raise ContextOverflow(
                f"a prompt of {length} tokens leaves no room for a reply in the model's context "
                f"of {self._context}"
            )
        self._waiting.append(sequence)

    def step(self) -> None:
        """Admit waiting sequences, then sample for every active one a token, or several ahead."""
        self._steps += 1
        known, read, same = self._admit()
        old = self._active - known - read - same
        if old:
            self._advance(old)
        if read:
            self._prefill(old + known, read)
        self._copy_openings(old + known + read, same)
        self._sample_first(old, known)
        self._sample_first(old + known + read, same)
        if known or read:
            self._changed()
        self._retire()

    def forget(self, session: str) -> None:
        """Release the row of a session; an active one is aborted."""
        self.abort(session)
        for row in self._rows[self._active :]:
            if row.session == session:
                row.session, row.ids = "", []

    def abort(self, session: str | None = None) -> None:
        """End the sequences of a session, or all, with their tokens so far."""
        kept = []
        for sequence in self._waiting:
            if session in (None, sequence.request.session):
                sequence.done(sequence.reply("abort"))
            else:
                kept.append(sequence)
        self._waiting = kept
        for number in range(self._active - 1, -1, -1):
            row = self._rows[number]
            if row.sequence is not None and session in (None, row.sequence.request.session):
                self._finish(number, "abort")

    def refresh(self, version: int) -> None:
        """Switch to new weights and drop all caches; active sequences are prefilled again."""
        self.version = version
        self._decoder.refresh()
        for row in self._rows:
            row.ids = []
            row.set_opening([], None)
        active = [row.sequence for row in self._rows[: self._active] if row.sequence is not None]
        for row in self._rows[: self._active]:
            row.sequence = None
        self._active = 0
        self._waiting = active + self._waiting
        self._changed()

    def fail(self, error: EngineError) -> None:
        """End all sequences with an error."""
        waiting, self._waiting = self._waiting, []
        active = [row.sequence for row in self._rows[: self._active]]
        self._rows = [CacheRow() for _ in self._rows]
        self._active = 0
        self._changed()
        for sequence in (*active, *waiting):
            if sequence is not None:
                sequence.done(error)

    def _admit(self) -> _Admitted:
        """Assign waiting sequences to rows after the active ones."""
        room = self._batch - self._active
        if not self._waiting or room <= 0:
            return _Admitted()
        chosen, self._waiting = self._waiting[:room], self._waiting[room:]
        longest = max(len(sequence.ids) for sequence in chosen)
        self._reserve(self._active + len(chosen), longest)
        known, read, same = self._partition(chosen)
        copied = 0
        for sequence in known:
            source = self._row_opening_with(sequence.ids)
            if source is None:  # an earlier sequence of this step has taken its row
                read.append(sequence)
                continue
            number = self._free_row()
            if source is not self._rows[number]:
                self._copy_opening(number, source)
            self._activate(number, sequence, sequence.ids)
            copied += 1
        for sequence in read:
            session_row, cached = self._cached(sequence)
            number = self._free_row() if session_row is None else session_row
            row = self._rows[number]
            if session_row is None:
                cached = self._forked(number, sequence)
            if len(cached) < len(row.opening):
                row.set_opening([], None)
            self._activate(number, sequence, cached)
        for sequence in same:
            self._activate(self._free_row(), sequence, [])
        self._changed()
        return _Admitted(copied, len(read), len(same))

    def _partition(
        self, chosen: list[Sequence]
    ) -> tuple[list[Sequence], list[Sequence], list[Sequence]]:
        """Split sequences into the three kinds of `_Admitted`."""
        known: list[Sequence] = []
        read: list[tuple[int, Sequence]] = []
        same: list[Sequence] = []
        reading: set[tuple[int, ...]] = set()
        for sequence in chosen:
            number, cached = self._cached(sequence)
            if number is not None and not cached:
                self._rows[number].session, self._rows[number].ids = "", []
            if cached:
                read.append((len(sequence.ids) - len(cached), sequence))
            elif self._row_opening_with(sequence.ids) is not None:
                known.append(sequence)
            elif shared := self._shared_with_parent(sequence)[1]:
                read.append((len(sequence.ids) - shared, sequence))
            elif (prompt := tuple(sequence.ids)) in reading:
                same.append(sequence)
            else:
                reading.add(prompt)
                read.append((len(prompt), sequence))
        # Sorted by the number of tokens to prefill, to minimise padding.
        read.sort(key=lambda item: item[0])
        return known, [sequence for _, sequence in read], same

    def _row_opening_with(self, ids: list[int]) -> CacheRow | None:
        """Return a row whose opening is exactly this prompt, or None."""
        return next((row for row in self._rows if row.opening == ids), None)

    def _copy_opening(self, number: int, other: CacheRow) -> None:
        """Copy the opening of another row to a row."""
        self._store.copy(self._rows.index(other), number, len(other.opening))
        self._rows[number].set_opening(other.opening, other.logits)

    def _activate(self, number: int, sequence: Sequence, cached: list[int]) -> None:
        self._swap(number, self._active)
        row = self._rows[self._active]
        row.sequence, row.session = sequence, sequence.request.session
        row.ids = list(cached)
        sequence.observed = len(cached)
        self._active += 1

    def _copy_openings(self, first: int, count: int) -> None:
        """Copy openings prefilled in this step to the other rows with the same prompt."""
        for number in range(first, first + count):
            row = self._rows[number]
            source = None if row.sequence is None else self._row_opening_with(row.sequence.ids)
            if source is None:
                raise RuntimeError("no row has the prompt that this step should have prefilled")
            self._copy_opening(number, source)
            row.ids = list(row.opening)

    def _sample_first(self, first: int, count: int) -> None:
        """Sample the first token of rows whose prompt was copied."""
        if not count:
            return
        rows = self._rows[first : first + count]
        logits = torch.stack([row.logits for row in rows if row.logits is not None])
        self._sample(logits, first, first + count, self._settings(first, first + count))

    def _cached(self, sequence: Sequence) -> tuple[int | None, list[int]]:
        """Return the idle row of a sequence's session and its tokens that can be reused."""
        session = sequence.request.session
        if not session:
            return None, []
        for number in range(self._active, len(self._rows)):
            row = self._rows[number]
            if row.session == session:
                common = _common_prefix(row.ids, sequence.ids)
                # The last token is always processed, for its logits.
                return number, row.ids[: min(common, len(sequence.ids) - 1)]
        return None, []

    def _shared_with_parent(self, sequence: Sequence) -> tuple[int, int]:
        """Return the row of the session that a sequence forks off, and how many tokens they share.

        Both are 0 if the session has no row or shares nothing.
        """
        parent = sequence.request.parent
        if not parent:
            return 0, 0
        for number, row in enumerate(self._rows):
            if row.session == parent:
                # The last token is always processed, for its logits.
                return number, min(_common_prefix(row.ids, sequence.ids), len(sequence.ids) - 1)
        return 0, 0

    def _forked(self, number: int, sequence: Sequence) -> list[int]:
        """Copy the parent's keys and values to an idle row; return the tokens copied."""
        parent, count = self._shared_with_parent(sequence)
        row = self._rows[number]
        if not count:
            return []
        if parent != number:  # otherwise the parent's row is the one to be reused
            self._store.copy(parent, number, count)
            row.set_opening([], None)
        row.ids = sequence.ids[:count]
        self.forked_tokens += count
        return row.ids

    def _free_row(self) -> int:
        """Return the idle row with the least valuable cache."""

        def value(number: int) -> tuple[bool, bool, int]:
            row = self._rows[number]
            return bool(row.ids), bool(row.opening), row.used

        return min(range(self._active, len(self._rows)), key=value)

    def _reserve(self, rows: int, length: int) -> None:
        """Grow the store for active rows and, up to the maximum, for idle ones."""
        idle = sum(1 for row in self._rows[self._active :] if row.ids)
        needed = min(max(rows + idle, rows), self._max_rows)
        if needed > self._store.rows:
            needed = min(max(needed, 2 * self._store.rows), self._max_rows)
        length = self._needed_length(length)
        if needed > self._store.rows or length > self._store.length:
            self._store = self._store.grown(needed, length)
            self._rows += [CacheRow() for _ in range(self._store.rows - len(self._rows))]

    def _needed_length(self, length: int) -> int:
        if length < self._store.length:
            return self._store.length
        return self._decoder.store_length(min(padded(length + 1, _GROWTH), self._context))

    def _swap(self, first: int, second: int) -> None:
        if first == second:
            return
        rows = self._rows
        self._store.swap(first, second, max(rows[first].length, rows[second].length))
        rows[first], rows[second] = rows[second], rows[first]

    def _prefill(self, first: int, count: int) -> None:
        """Prefill the uncached tokens of consecutive rows and sample the first token of each."""
        kind = self._decoder.device.type
        limit = _PREFILL_TOKENS.get(kind, _PREFILL_TOKENS_ELSEWHERE)
        start = first
        while start < first + count:
            end, longest = start, 0
            while end < first + count:
                longest = max(longest, len(self._uncached(end)))
                if end > start and longest * (end + 1 - start) > limit:
                    break
                end += 1
            self._prefill_pass(start, end)
            start = end

    def _uncached(self, number: int) -> list[int]:
        row = self._rows[number]
        return [] if row.sequence is None else row.sequence.ids[len(row.ids) :]

    def _prefill_pass(self, start: int, end: int) -> None:
        parts = [self._uncached(number) for number in range(start, end)]
        width = padded(max(map(len, parts)), self._decoder.prefill_block)
        device = self._decoder.device
        ids = torch.tensor([part + [0] * (width - len(part)) for part in parts], device=device)
        before = [len(self._rows[number].ids) for number in range(start, end)]
        starts = torch.tensor(before, device=device)
        last = torch.tensor([len(part) - 1 for part in parts], device=device)
        # Padding may reach past the longest sequence.
        self._reserve(self._active, max(b + width for b in before))
        logits = self._decoder.forward(ids, starts, self._store, last, start)
        self.read_tokens += sum(map(len, parts))
        for number, part in zip(range(start, end), parts, strict=True):
            row = self._rows[number]
            if not row.ids:
                row.set_opening(part, logits[number - start].clone())
            row.ids += part
        self._sample(logits, start, end, self._settings(start, end))

    def _settings(self, start: int, end: int) -> RowSampling:
        settings = [
            row.sequence.request.sampling
            for row in self._rows[start:end]
            if row.sequence is not None
        ]
        return RowSampling.of(settings, self._decoder.device, self._scale)

    def _advance(self, count: int) -> None:
        """Sample the next token of the first rows, or several if proposed ones are accepted."""
        if self._lookahead is None:
            return self._decode(count)
        length = self._lookahead.length(count)
        sequences = [row.sequence for row in self._rows[:count] if row.sequence is not None]
        longest = max(len(sequence.ids) for sequence in sequences)
        self._reserve(self._active, min(longest + length, self._context))
        room = min(length, self._store.length - longest)
        proposed = self._lookahead.propose(sequences, room) if room else []
        if not any(proposed):
            self._decode(count)
            return self._lookahead.measured(count, 0)
        if self._sampling is None:
            self._sampling = self._settings(0, count)
        rows = self._rows[:count]
        for row in rows:
            row.used = self._steps
        self.drawn_tokens += self._lookahead.check(
            self._decoder, self._store, rows, proposed, self._sampling, self._context, self.version
        )
        self._last = self._starts = None
        self._lookahead.measured(count, length)

    def _decode(self, count: int) -> None:
        rows = self._rows[:count]
        device = self._decoder.device
        longest = max(len(row.ids) for row in rows)
        if longest >= self._store.length:
            self._reserve(self._active, longest + 1)
        if self._last is None or self._starts is None:
            last = [row.sequence.ids[-1] for row in rows if row.sequence is not None]
            self._last = torch.tensor(last, device=device)
            self._starts = torch.tensor([len(row.ids) for row in rows], device=device)
        if self._sampling is None:
            self._sampling = self._settings(0, count)
        logits = self._decoder.forward(self._last[:, None], self._starts, self._store, self._starts)
        for row in rows:
            if row.sequence is not None:
                row.ids.append(row.sequence.ids[-1])
        self._last = self._sample(logits, 0, count, self._sampling)
        self._starts = self._starts + 1

    def _sample(self, logits: Tensor, start: int, end: int, settings: RowSampling) -> Tensor:
        sequences = [row.sequence for row in self._rows[start:end]]
        numbers = torch.tensor(
            [0.0 if sequence is None else sequence.draws.take() for sequence in sequences],
            device=self._decoder.device,
        )
        chosen, log_probabilities = sample(logits, settings, numbers[:, None])
        tokens, values = chosen.tolist(), log_probabilities.tolist()
        if wants_entropies(sequences):
            for sequence, entropy in zip(sequences, entropies(logits).tolist(), strict=True):
                if sequence is not None and sequence.request.sampling.entropies:
                    sequence.entropies.append(entropy)
        for row, token, value in zip(self._rows[start:end], tokens, values, strict=True):
            row.used = self._steps
            if row.sequence is not None:
                row.sequence.take(token, value, self.version)
        self.drawn_tokens += end - start
        return chosen

    def _retire(self) -> None:
        for number in range(self._active - 1, -1, -1):
            sequence = self._rows[number].sequence
            finish = None if sequence is None else sequence.finish_reason(self._context)
            if finish is not None:
                self._finish(number, finish)

    def _finish(self, number: int, finish: Finish) -> None:
        row = self._rows[number]
        sequence, row.sequence = row.sequence, None
        if not row.session:
            row.ids = []
        self._active -= 1
        self._swap(number, self._active)
        self._changed()
        if sequence is not None:
            if self._lookahead is not None:
                self._lookahead.observe(sequence)
            sequence.done(sequence.reply(finish))

    def _changed(self) -> None:
        self._last = self._starts = self._sampling = None


def _common_prefix(first: list[int], second: list[int]) -> int:
    """Return the length of the common prefix of two sequences."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next(index for index in range(length) if first[index] != second[index])
