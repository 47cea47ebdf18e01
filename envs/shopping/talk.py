"""One conversation at the service desk as a world: several matters, final bookings."""

from hexathlon.envs.shopping.looks import LookedWorld
from hexathlon.tasks.shopping.world.talk.desk import TalkDesk

__all__ = ["TalkWorld"]


class TalkWorld(LookedWorld):
    """One conversation."""

    desk_type = TalkDesk
    prose = (
        "The customer nods. (Ask about one topic with ask_customer, or anything_else.)",
        "顾客点点头。（请用 ask_customer 询问某一方面，或用 anything_else。）",
    )
