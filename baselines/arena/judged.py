"""An arena's comparisons by a model, with what its file says about that model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.arena.arena import ArenaResult, Comparer, run_arena_async
from hexathlon.baselines.arena.judges import group_comparer, rubric_comparer
from hexathlon.baselines.arena.recorded import ArenaPlayer
from hexathlon.baselines.arena.simulation import Performance
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.judging.client import JudgeClient
from hexathlon.baselines.judging.comparing import GroupwiseJudge, PairwiseJudge
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from hexathlon.baselines.judging.plan import experimental_criteria, rubrics_of
from hexathlon.evaluators.judges.audit.document import Audit
from hexathlon.evaluators.judges.families import family_of
from hexathlon.evaluators.judges.rubric import Rubric

__all__ = ["ArenaJudge"]


class ArenaJudge:
    """Compares performances by a model with each scene's rubric.

    Args:
        settings: The judge.
        pairwise: Ask about each pair in both orders, instead of once per scene and order about
            the whole group (CPO).
        permutations: Orders in which a group is shown.

    Raises:
        UsageError: If the judge cannot be identified.
        EnvironmentUnavailable: If its server does not answer.
    """

    def __init__(
        self, settings: JudgeSettings, *, pairwise: bool = False, permutations: int = 2
    ) -> None:
        self._settings, self._pairwise, self._permutations = settings, pairwise, permutations
        self.identity = identify_judge(settings)

    def compare(
        self,
        players: Sequence[ArenaPlayer],
        performances: Sequence[Performance],
        *,
        rubric: Rubric | None = None,
        audit: Audit | None = None,
        salt: str | None = None,
    ) -> tuple[ArenaResult, dict[str, Any]]:
        """Return the result, and the entry `judge` of the arena's file.

        Args:
            players: The players.
            performances: What they played.
            rubric: The rubric of all scenes; None uses that of each task.
            audit: The judge's audit, if it has one.
            salt: The secret of a held-out round.

        Raises:
            UsageError: If a scene has no rubric.
            EnvironmentUnavailable: If the judge's server fails permanently.
        """
        rubrics = _by_scene(performances, rubrics_of(players[0].plan, rubric, salt))
        client = open_client(self._settings, self.identity)
        try:
            result = interrupts.run(self._compare(client, performances, rubrics))
        except EngineError as error:
            raise EnvironmentUnavailable(f"{error.kind}: {error}") from None
        distinct = {one.hash: one for one in rubrics.values()}
        return result, {
            "identity": self.identity.as_json(),
            "rubrics": {name: one.model_dump(mode="json") for name, one in distinct.items()},
            "audit": None if audit is None else audit.hash,
            "audited": audit is not None,
            "experimental": experimental_criteria([audit], list(distinct.values())),
            "rejected": [] if audit is None else sorted(audit.rejected),
            "kin": self._kin(players),
            "permutations": None if self._pairwise else self._permutations,
            "usage": client.usage._asdict(),
        }

    async def _compare(
        self,
        client: JudgeClient,
        performances: Sequence[Performance],
        rubrics: Mapping[str, Rubric],
    ) -> ArenaResult:
        def rubric_of(performance: Performance) -> Rubric:
            return rubrics[performance.scene]

        compare: Comparer
        if self._pairwise:
            compare = rubric_comparer(PairwiseJudge(client), rubric_of)
        else:
            judge = GroupwiseJudge(client, permutations=self._permutations, scores=True)
            compare = group_comparer(judge, rubric_of, performances)
        try:
            return await run_arena_async(performances, compare)
        finally:
            await client.close()

    def _kin(self, players: Sequence[ArenaPlayer]) -> list[str]:
        """Return the players whose model belongs to the judge's family."""
        own = set(self.identity.families)
        models = ((player.name, player.plan["model"]) for player in players)
        return [
            name
            for name, model in models
            if model["kind"] != "agent" and own & set(family_of(str(model["name"])))
        ]


def _by_scene(
    performances: Sequence[Performance], find: Callable[[Mapping[str, Any]], Rubric | None]
) -> dict[str, Rubric]:
    rubrics: dict[str, Rubric] = {}
    for performance in performances:
        if performance.scene in rubrics:
            continue
        rubric = find(performance.record)
        if rubric is None:
            raise UsageError(
                f"{performance.scene} has no rubric: name one with --rubric, or compare "
                "by the tasks' own scores with --kind rules"
            )
        rubrics[performance.scene] = rubric
    return rubrics
