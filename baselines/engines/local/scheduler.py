"""Continuous batching: sequences join and leave between steps, each in its own row.

Rows 0 to n - 1 are being continued. Behind them rest the rows of episodes that wait for their
environment; their keys and values are still there when the next turn begins with the same tokens.
A row that rests longest is given away first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from hexathlon.baselines.engines.errors import ContextOverflow, EngineError
from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.sampler import Draws, RowSampling, sample
from hexathlon.baselines.engines.tokens import Finish, Span, TokenReply, TokenRequest

__all__ = ["Scheduler", "Sequence"]

_GROWTH = 256
_PREFILL_TOKENS = {"cpu": 1024}
"""Most tokens of one prefill pass, padding included: on a CPU what its cache holds."""

_PREFILL_TOKENS_ELSEWHERE = 16_384


@dataclass(slots=True, eq=False)
class Sequence:
    """A request on its way."""

    request: TokenRequest
    done: Callable[[TokenReply | EngineError], None]
    """Called once, with the reply or with what went wrong."""

    ids: list[int] = field(init=False)
    """Prompt and reply so far."""

    drawn: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    draws: Draws = field(init=False)
    stops: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        sampling = self.request.sampling
        self.ids = list(self.request.ids)
        self.draws = Draws(sampling.seed, sampling.max_tokens)
        self.stops = frozenset(sampling.stop_ids)

    def take(self, token: int, log_probability: float, version: int) -> None:
        """Append a drawn token."""
        self.ids.append(token)
        self.drawn.append(token)
        self.log_probabilities.append(log_probability)
        self.versions.append(version)

    def ended(self, context: int) -> Finish | None:
        """Say whether the last token was the last, and why."""
        if self.drawn[-1] in self.stops:
            return "stop"
        full = len(self.drawn) >= self.request.sampling.max_tokens or len(self.ids) >= context
        return "length" if full else None

    def reply(self, finish: Finish) -> TokenReply:
        """Return what was drawn so far."""
        spans: list[Span] = []
        for place, version in enumerate(self.versions):
            if spans and spans[-1].version == version:
                spans[-1] = spans[-1]._replace(end=place + 1)
            else:
                spans.append(Span(version, place, place + 1))
        return TokenReply(self.drawn, self.log_probabilities, finish, spans)


@dataclass(slots=True, eq=False)
class _Row:
    """What a row of the store holds."""

    session: str = ""
    ids: list[int] = field(default_factory=list)
    """Tokens whose keys and values are there."""

    sequence: Sequence | None = None
    used: int = 0
    """Step in which it was last continued."""


class Scheduler:
    """Plans and runs the steps of a decoder.

    Args:
        decoder: The model.
        context: Most tokens of a sequence.
        batch: Most sequences continued at once.
        rows: Most sequences kept, resting ones included; at least `batch`.
    """

    def __init__(self, decoder: LlamaDecoder, context: int, batch: int, rows: int) -> None:
        self._decoder = decoder
        self._context = context
        self._batch = batch
        self._most_rows = max(rows, batch)
        self._waiting: list[Sequence] = []
        self._begin()
        self._sampling: RowSampling | None = None
        self._last: Tensor | None = None
        self._starts: Tensor | None = None
        self.version = 0
        self.drawn_tokens = 0
        self.read_tokens = 0

    def _begin(self) -> None:
        self._store = self._decoder.store(min(8, self._most_rows), min(_GROWTH, self._context))
        self._rows = [_Row() for _ in range(self._store.rows)]
        self._active = 0
        self._steps = 0

    def clear(self) -> None:
        """Begin as new: everything is aborted and nothing is kept.

        What is computed afterwards is then a function of the requests alone, to the last bit,
        since no row lies where an earlier one left it.
        """
        self.abort()
        self._begin()
        self._changed()

    @property
    def busy(self) -> bool:
        """Whether a step has something to do."""
        return bool(self._active or self._waiting)

    def add(self, sequence: Sequence) -> None:
        """Let a request wait for its first step.

        Raises:
            ContextOverflow: Its prompt leaves no room for a reply.
        """
        length = len(sequence.ids)
        if length == 0:
            raise EngineError("the prompt has no tokens; a model needs at least one to go on from")
        if length >= self._context:
            raise ContextOverflow(
                f"the prompt has {length} tokens; the model's context holds {self._context} "
                "together with the reply"
            )
        self._waiting.append(sequence)

    def step(self) -> None:
        """Admit what waits, then draw one token for every active sequence."""
        self._steps += 1
        fresh = self._admit()
        old = self._active - fresh
        if old:
            self._decode(old)
        if fresh:
            self._prefill(old, fresh)
            self._changed()
        self._retire()

    def forget(self, session: str) -> None:
        """Let a resting session's row go; an active one is aborted."""
        self.abort(session)
        for row in self._rows[self._active :]:
            if row.session == session:
                row.session, row.ids = "", []

    def abort(self, session: str | None = None) -> None:
        """End sequences of a session, or all, with what they have so far."""
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

    def stale(self, version: int) -> None:
        """Take over new weights: keys and values of the old ones are computed anew when needed."""
        self.version = version
        self._decoder.refresh()
        for row in self._rows:
            row.ids = []
        again = [row.sequence for row in self._rows[: self._active] if row.sequence is not None]
        for row in self._rows[: self._active]:
            row.sequence = None
        self._active = 0
        self._waiting = again + self._waiting
        self._changed()

    def fail(self, error: EngineError) -> None:
        """End everything with an error."""
        waiting, self._waiting = self._waiting, []
        active = [row.sequence for row in self._rows[: self._active]]
        self._rows = [_Row() for _ in self._rows]
        self._active = 0
        self._changed()
        for sequence in (*active, *waiting):
            if sequence is not None:
                sequence.done(error)

    def _admit(self) -> int:
        """Move waiting sequences into rows behind the active ones; return how many."""
        room = self._batch - self._active
        if not self._waiting or room <= 0:
            return 0
        chosen, self._waiting = self._waiting[:room], self._waiting[room:]
        self._reserve(self._active + len(chosen), max(len(one.ids) for one in chosen))
        # Those with little to read first, so that a pass pads little.
        chosen.sort(key=lambda one: len(one.ids) - len(self._kept(one)[1]))
        for sequence in chosen:
            number, kept = self._kept(sequence)
            if number is None:
                number, kept = self._free_row(), []
            self._swap(number, self._active)
            row = self._rows[self._active]
            row.sequence, row.session = sequence, sequence.request.session
            row.ids = list(kept)
            self._active += 1
        self._changed()
        return len(chosen)

    def _kept(self, sequence: Sequence) -> tuple[int | None, list[int]]:
        """Return the resting row of a sequence's session and the tokens that can stay in it."""
        session = sequence.request.session
        if not session:
            return None, []
        for number in range(self._active, len(self._rows)):
            row = self._rows[number]
            if row.session == session:
                same = _common(row.ids, sequence.ids)
                # The last token is always read, for its logits.
                return number, row.ids[: min(same, len(sequence.ids) - 1)]
        return None, []

    def _free_row(self) -> int:
        resting = range(self._active, len(self._rows))
        empty = next((number for number in resting if not self._rows[number].ids), None)
        if empty is not None:
            return empty
        return min(resting, key=lambda number: self._rows[number].used)

    def _reserve(self, rows: int, length: int) -> None:
        """Make room for active rows and, while memory allows, for those that rest."""
        resting = sum(1 for row in self._rows[self._active :] if row.ids)
        wanted = min(max(rows + resting, rows), self._most_rows)
        if wanted > self._store.rows:
            wanted = min(max(wanted, 2 * self._store.rows), self._most_rows)
        length = self._wanted_length(length)
        if wanted > self._store.rows or length > self._store.length:
            self._store = self._store.grown(wanted, length)
            self._rows += [_Row() for _ in range(self._store.rows - len(self._rows))]

    def _wanted_length(self, length: int) -> int:
        if length < self._store.length:
            return self._store.length
        return min(-(-(length + 1) // _GROWTH) * _GROWTH, self._context)

    def _swap(self, first: int, second: int) -> None:
        if first == second:
            return
        rows = self._rows
        self._store.swap(first, second, max(len(rows[first].ids), len(rows[second].ids)))
        rows[first], rows[second] = rows[second], rows[first]

    def _prefill(self, first: int, count: int) -> None:
        """Read the unread tokens of neighbouring rows and draw each one's first token."""
        kind = self._decoder.device.type
        most = _PREFILL_TOKENS.get(kind, _PREFILL_TOKENS_ELSEWHERE)
        start = first
        while start < first + count:
            end, longest = start, 0
            while end < first + count:
                longest = max(longest, len(self._unread(end)))
                if end > start and longest * (end + 1 - start) > most:
                    break
                end += 1
            self._read(start, end)
            start = end

    def _unread(self, number: int) -> list[int]:
        row = self._rows[number]
        return [] if row.sequence is None else row.sequence.ids[len(row.ids) :]

    def _read(self, start: int, end: int) -> None:
        parts = [self._unread(number) for number in range(start, end)]
        width = max(map(len, parts))
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
            self._rows[number].ids += part
        self._draw(logits, start, end, self._settings(start, end))

    def _settings(self, start: int, end: int) -> RowSampling:
        settings = [
            row.sequence.request.sampling
            for row in self._rows[start:end]
            if row.sequence is not None
        ]
        return RowSampling.of(settings, self._decoder.device)

    def _decode(self, count: int) -> None:
        rows = self._rows[:count]
        device = self._decoder.device
        longest = max(len(row.ids) for row in rows)
        if longest >= self._store.length:
            self._reserve(self._active, longest + 1)
        if self._last is None or self._starts is None or self._sampling is None:
            drawn = [row.sequence.ids[-1] for row in rows if row.sequence is not None]
            self._last = torch.tensor(drawn, device=device)
            self._starts = torch.tensor([len(row.ids) for row in rows], device=device)
            self._sampling = self._settings(0, count)
        logits = self._decoder.forward(self._last[:, None], self._starts, self._store, self._starts)
        for row in rows:
            if row.sequence is not None:
                row.ids.append(row.sequence.ids[-1])
        self._last = self._draw(logits, 0, count, self._sampling)
        self._starts = self._starts + 1

    def _draw(self, logits: Tensor, start: int, end: int, settings: RowSampling) -> Tensor:
        sequences = [row.sequence for row in self._rows[start:end]]
        numbers = torch.tensor(
            [one.draws.take() if one is not None else 0.0 for one in sequences],
            device=self._decoder.device,
        )
        chosen, log_probabilities = sample(logits, settings, numbers[:, None])
        tokens, values = chosen.tolist(), log_probabilities.tolist()
        for row, token, value in zip(self._rows[start:end], tokens, values, strict=True):
            row.used = self._steps
            if row.sequence is None:
                continue
            if value != value:
                raise EngineError(
                    "the model's logits are not numbers; its weights are damaged, or the learning "
                    "rate was too high"
                )
            row.sequence.take(token, value, self.version)
        self.drawn_tokens += end - start
        return chosen

    def _retire(self) -> None:
        for number in range(self._active - 1, -1, -1):
            sequence = self._rows[number].sequence
            finish = None if sequence is None else sequence.ended(self._context)
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
            sequence.done(sequence.reply(finish))

    def _changed(self) -> None:
        self._last = self._starts = self._sampling = None


def _common(first: list[int], second: list[int]) -> int:
    """Return how many tokens two sequences begin with in common."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next(place for place in range(length) if first[place] != second[place])
