"""Detection of giveaways: purchases that can be found without checking their conditions.

Such instances are dropped. Typing the request into the search box must not rank a target first (at
`hard`, not on the first page), and the target must not be the cheapest among the products that
share most words with the request.
"""

from hexathlon.tasks.catalogue import SearchPage
from hexathlon.tasks.catalogue.tokens import tokenize
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.draft import ShoppingDraft

__all__ = ["given_away"]

_PAGES = 3
_QUERY = 300
"""Number of characters of the request that are typed."""


def given_away(scene: ShoppingScene, draft: ShoppingDraft) -> bool:
    """Whether search alone, or shared words and price alone, reveal the target."""
    agenda = draft.params.get("user", {}).get("agenda", {})
    request = str(agenda.get("goal") or draft.instruction)
    pages = [_page(scene, request[:_QUERY], page) for page in range(1, _PAGES + 1)]
    wanted = {line.product.id for line in draft.lines}
    if draft.answer is not None:
        wanted = {record.partition("-")[0] for record in draft.answer["records"]}
    first = pages[0].hits if scene.level == "hard" else pages[0].hits[:1]
    found = {hit.product_id for hit in first} | _cheapest_of_most_similar(request, pages)
    return not wanted.isdisjoint(found)


def _page(scene: ShoppingScene, query: str, page: int) -> SearchPage:
    return scene.catalogue.search(query, language=scene.language, page=page)


def _cheapest_of_most_similar(request: str, pages: list[SearchPage]) -> set[str]:
    said = set(tokenize(request))
    hits = [hit for page in pages for hit in page.hits]
    shared = [len(said.intersection(tokenize(hit.title))) for hit in hits]
    likest = [hit for hit, count in zip(hits, shared, strict=True) if count == max(shared)]
    return {hit.product_id for hit in sorted(likest, key=lambda hit: hit.price_cents)[:1]}
