"""The trades of the generated databases, each a grammar in a module of its own name."""

from hexathlon.tasks.sql.domains import retail
from hexathlon.tasks.sql.domains.grammar import Domain

DOMAINS: dict[str, Domain] = {module.DOMAIN.name: module.DOMAIN for module in (retail,)}
