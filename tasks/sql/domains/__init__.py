"""The industries of the generated databases, each a grammar in a module of the same name.

Independent of rows, of the names in a particular database, and of questions.
"""

from hexathlon.tasks.sql.domains import (
    airline,
    bank,
    clinic,
    farm,
    film,
    games,
    housing,
    hr,
    library,
    logistics,
    retail,
    support,
    university,
    utilities,
)  # fmt: skip
from hexathlon.tasks.sql.domains.grammar import Domain

_MODULES = (
    airline, bank, clinic, farm, film, games, housing, hr, library, logistics, retail, support,
    university, utilities,
)  # fmt: skip

DOMAINS: dict[str, Domain] = {module.DOMAIN.name: module.DOMAIN for module in _MODULES}
