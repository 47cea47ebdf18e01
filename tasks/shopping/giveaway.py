"""Detection of giveaways: purchases that can be found without checking their conditions.

Such instances are dropped. Typing the request into the search box must not rank a target first, and
the target must not be the cheapest among the products that share most words with the request. At
`medium`, the target must not stand out from its family in any ranking by shared words, with or
without number filters, or by resemblance.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.catalogue import Constraint, SearchPage
from hexathlon.tasks.catalogue.tokens import tokenize
from hexathlon.tasks.shopping.rankings import chance_of_first, open_shelf
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.draft import ShoppingDraft
from hexathlon.tasks.shopping.templates.words import without_aversion

__all__ = ["given_away", "told"]

_PAGES = 3
_QUERY = 300
"""Number of characters of the request that are typed."""
_CHANCE = 0.04
"""Maximum probability that a ranking, with ties drawn at random, has the target first."""


def given_away(scene: ShoppingScene, draft: ShoppingDraft, *, strictly: bool = True) -> bool:
    """Whether search, rankings, or shared words and price alone reveal the target.

    With `strictly`, rankings by a request without its unwanted values must fail as well.
    """
    wanted = [line.product.id for line in draft.lines]
    if draft.answer is not None:
        wanted = [record.partition("-")[0] for record in draft.answer["records"]]
    if scene.gap and _stands_out(scene, draft, wanted[0], strictly):
        return True
    return _found(scene, draft, wanted)


def told(instruction: str, params: Mapping[str, Any]) -> str:
    """Return all that a shopper can learn of the wishes: from request, customer and profile.

    Args:
        instruction: The request.
        params: The parameters of its draft or task.
    """
    agenda = params.get("user", {}).get("agenda", {})
    slots = agenda.get("slots", {}).values()
    answers = [str(slot.get("change_to") or slot["value"]) for slot in slots]
    facts = params.get("profile", ())
    return " ".join([instruction, str(agenda.get("goal", "")), *answers, *facts])


def _found(scene: ShoppingScene, draft: ShoppingDraft, wanted: Sequence[str]) -> bool:
    """Whether the search box finds a target for the request as it is."""
    agenda = draft.params.get("user", {}).get("agenda", {})
    request = str(agenda.get("goal") or draft.instruction)
    pages = [_page(scene, request[:_QUERY], page) for page in range(1, _PAGES + 1)]
    first = {hit.product_id for hit in pages[0].hits[:1]}
    found = first | _cheapest_of_most_similar(request, pages)
    return not found.isdisjoint(wanted)


def _stands_out(scene: ShoppingScene, draft: ShoppingDraft, target: str, strictly: bool) -> bool:
    """Whether some ranking of the family has the target first."""
    family = scene.catalogue.product(target).family
    shelf = open_shelf(scene.catalogue, family, scene.language)
    position = scene.catalogue.family(family).index(target)
    conditions = [Constraint.from_json(item["constraint"]) for item in next(iter(draft.wanted), ())]
    said = told(draft.instruction, draft.params)
    requests = (said, without_aversion(said)) if strictly else (said,)
    return any(
        chance_of_first(scores, position) > _CHANCE
        for request in requests
        for _, scores in shelf.rankings(request, conditions)
    )


def _page(scene: ShoppingScene, query: str, page: int) -> SearchPage:
    return scene.catalogue.search(query, language=scene.language, page=page)


def _cheapest_of_most_similar(request: str, pages: list[SearchPage]) -> set[str]:
    said = set(tokenize(request))
    hits = [hit for page in pages for hit in page.hits]
    shared = [len(said.intersection(tokenize(hit.title))) for hit in hits]
    likest = [hit for hit, count in zip(hits, shared, strict=True) if count == max(shared)]
    return {hit.product_id for hit in sorted(likest, key=lambda hit: hit.price_cents)[:1]}
