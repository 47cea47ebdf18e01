"""The turns of one trial as a token tree: what another program asked of a checkpoint.

A conversation that continues an earlier one is a path of the tree, token by token. A rewritten
history, a second conversation, or an earlier turn that is continued again is a branch, with the
reason.
"""

from hexathlon.baselines.engines.apis.base import text_of_message
from hexathlon.baselines.gateway.policy import SampledTurn
from hexathlon.baselines.tokens.tree import Node, TokenTree
from hexathlon.evaluators.records.canonical import text_hash

__all__ = ["TurnLog"]

_AGAIN = "an earlier turn is continued again"


class TurnLog:
    """Builds the tree.

    Args:
        trial: Number of the trial.
    """

    def __init__(self, trial: int = 0) -> None:
        self.tree = TokenTree()
        self.closed = False
        """Whether the trial has ended; later turns are not part of it."""
        self._trial = trial
        self._turns = 0

    def record(self, turn: SampledTurn) -> int:
        """Add a turn and return the index of its node; -1 after the end of the trial."""
        if self.closed:
            return -1
        reason = turn.reason
        if not reason and turn.parent != len(self.tree.nodes) - 1:
            reason = _AGAIN
        if turn.parent < 0 and not self.tree.nodes:
            reason = ""
        leaf = turn.parent
        for segment in turn.segments:
            leaf = self.tree.add(Node(segment.ids, segment.kind, leaf, reason=reason))
            reason = ""
        reply = turn.reply
        versions = [span.version for span in reply.spans for _ in range(span.start, span.end)]
        texts = [text_of_message(message.get("content")) for message in turn.messages]
        node = Node(
            tuple(reply.ids),
            "sampled",
            leaf,
            self._turns,
            tuple(reply.log_probabilities),
            tuple(versions),
            finish=reply.finish,
            state=text_hash("\n\n".join(texts)),
            trial=self._trial,
        )
        self._turns += 1
        return self.tree.add(node)
