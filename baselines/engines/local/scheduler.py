"""Continuous batching: sequences join and leave between steps, each in its own row.

Rows 0 to n - 1 are being continued. Behind them rest the rows of episodes that wait for their
environment; their keys and values are still there when the next turn begins with the same tokens.
A row that rests longest is given away first.

A prompt that another row began with, as those of a group's members do, is not read again: its keys
and values are copied, and its logits with them: what follows is as if the other row went on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.engines.errors import ContextOverflow, EngineError
from hexathlon.baselines.engines.local.decoder import LlamaDecoder
from hexathlon.baselines.engines.local.sampler import Draws, RowSampling, sample
from hexathlon.baselines.tokens.requests import Finish, Span, TokenReply, TokenRequest

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
        self.draws = Draws(sampling.seed, sampling.max_tokens, sampling.skip)
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

    opening: list[int] = field(default_factory=list)
    """The prompt that was read here from its first token; it outlasts `ids` until the row is given
    away."""

    logits: Tensor | None = None
    """After the opening, `[vocabulary]`."""

    @property
    def held(self) -> int:
        """How many positions hold something of use."""
        return max(len(self.ids), len(self.opening))

    def open(self, ids: list[int], logits: Tensor | None) -> None:
        """Remember what the row begins with; nothing where `ids` is empty."""
        self.opening, self.logits = ids, logits


class _Admitted(NamedTuple):
    """How many sequences begin, in the order of their rows."""

    known: int = 0
    """Their prompts stood in a row already."""

    read: int = 0
    same: int = 0
    """Their prompts are among those that are read in this step."""


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
            ContextOverflow: If its prompt leaves no room for a reply.
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
        known, read, same = self._admit()
        old = self._active - known - read - same
        if old:
            self._decode(old)
        if read:
            self._prefill(old + known, read)
        self._copy_openings(old + known + read, same)
        self._draw_first(old, known)
        self._draw_first(old + known + read, same)
        if known or read:
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
            row.open([], None)
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

    def _admit(self) -> _Admitted:
        """Move waiting sequences into rows behind the active ones."""
        room = self._batch - self._active
        if not self._waiting or room <= 0:
            return _Admitted()
        chosen, self._waiting = self._waiting[:room], self._waiting[room:]
        self._reserve(self._active + len(chosen), max(len(one.ids) for one in chosen))
        known, read, same = self._sorted(chosen)
        copied = 0
        for sequence in known:
            opened = self._opened(sequence.ids)
            if opened is None:  # its row was given to one of those before
                read.append(sequence)
                continue
            number = self._free_row()
            if opened is not self._rows[number]:
                self._begin_as(number, opened)
            self._activate(number, sequence, sequence.ids)
            copied += 1
        for sequence in read:
            found, kept = self._kept(sequence)
            number = self._free_row() if found is None else found
            row = self._rows[number]
            if len(kept) < len(row.opening):
                row.open([], None)
            self._activate(number, sequence, kept)
        for sequence in same:
            self._activate(self._free_row(), sequence, [])
        self._changed()
        return _Admitted(copied, len(read), len(same))

    def _sorted(
        self, chosen: list[Sequence]
    ) -> tuple[list[Sequence], list[Sequence], list[Sequence]]:
        """Tell prompts that stand in a row, those to read, and those that equal one of these."""
        known: list[Sequence] = []
        read: list[tuple[int, Sequence]] = []
        same: list[Sequence] = []
        reading: set[tuple[int, ...]] = set()
        for sequence in chosen:
            number, kept = self._kept(sequence)
            if number is not None and not kept:
                self._rows[number].session, self._rows[number].ids = "", []
            if kept:
                read.append((len(sequence.ids) - len(kept), sequence))
            elif self._opened(sequence.ids) is not None:
                known.append(sequence)
            elif (prompt := tuple(sequence.ids)) in reading:
                same.append(sequence)
            else:
                reading.add(prompt)
                read.append((len(prompt), sequence))
        # Those with little to read first, so that a pass pads little.
        read.sort(key=lambda one: one[0])
        return known, [sequence for _, sequence in read], same

    def _opened(self, ids: list[int]) -> _Row | None:
        """Return a row that begins with exactly this prompt."""
        return next((row for row in self._rows if row.opening == ids), None)

    def _begin_as(self, number: int, other: _Row) -> None:
        """Give a row the opening of another one."""
        self._store.copy(self._rows.index(other), number, len(other.opening))
        self._rows[number].open(other.opening, other.logits)

    def _activate(self, number: int, sequence: Sequence, kept: list[int]) -> None:
        self._swap(number, self._active)
        row = self._rows[self._active]
        row.sequence, row.session = sequence, sequence.request.session
        row.ids = list(kept)
        self._active += 1

    def _copy_openings(self, first: int, count: int) -> None:
        """Copy prompts that were read in this step to the rows of those that have the same."""
        for number in range(first, first + count):
            row = self._rows[number]
            opened = None if row.sequence is None else self._opened(row.sequence.ids)
            if opened is None:
                raise RuntimeError("a prompt that was to be read in this step is in no row")
            self._begin_as(number, opened)
            row.ids = list(row.opening)

    def _draw_first(self, first: int, count: int) -> None:
        """Draw the first token of rows whose prompt was copied."""
        if not count:
            return
        rows = self._rows[first : first + count]
        logits = torch.stack([row.logits for row in rows if row.logits is not None])
        self._draw(logits, first, first + count, self._settings(first, first + count))

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
        """Return the resting row that is missed least."""

        def missed(number: int) -> tuple[bool, bool, int]:
            row = self._rows[number]
            return bool(row.ids), bool(row.opening), row.used

        return min(range(self._active, len(self._rows)), key=missed)

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
        self._store.swap(first, second, max(rows[first].held, rows[second].held))
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
            row = self._rows[number]
            if not row.ids:
                row.open(part, logits[number - start].clone())
            row.ids += part
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
