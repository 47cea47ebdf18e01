"""A household as a world: one shopper, several people, and a market that moves."""

from hexathlon.envs.shopping.looks import LookedWorld
from hexathlon.tasks.shopping.world.household.house import Household

__all__ = ["HouseholdWorld"]


class HouseholdWorld(LookedWorld):
    """One household's month or basket."""

    desk_type = Household
    prose = (
        "Nobody answers. (Ask a person about one topic with ask.)",
        "没有人回答。（请用 ask 就某一方面询问某人。）",
    )
