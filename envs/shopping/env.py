"""`hexathlon/Shopping-v0`: search and buy, serve customers, and the public shopping benchmarks.

The environment only chooses the world that a task plays in and passes tool calls to it. What is
true in a world and what its tools do stands in the world's own module; expected answers are in
none of them.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import ToolError
from hexathlon.envs.shopping.hints import HINTS
from hexathlon.envs.shopping.world import World, open_world
from hexathlon.envs.tools import tool
from hexathlon.tasks.shopping.retail import DeskProblem
from hexathlon.tasks.task import Task

__all__ = ["ShoppingEnv", "make_vector"]


def _passed_on(name: str) -> Callable[..., str]:
    """Return a tool method that hands its call to the world."""

    @tool
    def method(self: "ShoppingEnv", **arguments: Any) -> str:
        return self.run_in_world(name, arguments)

    method.__name__ = f"tool_{name}"
    method.__doc__ = f"Pass `{name}` on to the world."
    return method


class ShoppingEnv(Environment):
    """Shopping and customer service.

    Args:
        **kwargs: As for every environment.
    """

    family: ClassVar[str] = "shopping"
    version: ClassVar[str] = "0"
    default_taskset: ClassVar[str] = "shopping"
    system_prompt: ClassVar[str] = (
        "You work in a shop through tools. Reply with one tool call at a time, as JSON; any other "
        "text goes to the person you serve. Products that look alike differ in details: look "
        "before you buy, and do what was asked, nothing more."
    )

    hints: ClassVar[Mapping[str, str]] = HINTS

    # tau2's retail desk
    tool_calculate = _passed_on("calculate")
    tool_cancel_pending_order = _passed_on("cancel_pending_order")
    tool_exchange_delivered_order_items = _passed_on("exchange_delivered_order_items")
    tool_find_user_id_by_name_zip = _passed_on("find_user_id_by_name_zip")
    tool_find_user_id_by_email = _passed_on("find_user_id_by_email")
    tool_get_order_details = _passed_on("get_order_details")
    tool_get_product_details = _passed_on("get_product_details")
    tool_get_item_details = _passed_on("get_item_details")
    tool_get_user_details = _passed_on("get_user_details")
    tool_list_all_product_types = _passed_on("list_all_product_types")
    tool_modify_pending_order_address = _passed_on("modify_pending_order_address")
    tool_modify_pending_order_items = _passed_on("modify_pending_order_items")
    tool_modify_pending_order_payment = _passed_on("modify_pending_order_payment")
    tool_modify_user_address = _passed_on("modify_user_address")
    tool_return_delivered_order_items = _passed_on("return_delivered_order_items")
    tool_transfer_to_human_agents = _passed_on("transfer_to_human_agents")
    tool_end_conversation = _passed_on("end_conversation")

    # The store
    tool_search = _passed_on("search")
    tool_open_item = _passed_on("open_item")
    tool_read_description = _passed_on("read_description")
    tool_read_specification = _passed_on("read_specification")
    tool_read_reviews = _passed_on("read_reviews")
    tool_choose_options = _passed_on("choose_options")
    tool_compare = _passed_on("compare")
    tool_add_to_cart = _passed_on("add_to_cart")
    tool_remove_from_cart = _passed_on("remove_from_cart")
    tool_view_cart = _passed_on("view_cart")
    tool_read_rules = _passed_on("read_rules")
    tool_list_coupons = _passed_on("list_coupons")
    tool_apply_coupon = _passed_on("apply_coupon")
    tool_remove_coupon = _passed_on("remove_coupon")
    tool_checkout = _passed_on("checkout")
    tool_view_profile = _passed_on("view_profile")
    tool_order_history = _passed_on("order_history")
    tool_view_order = _passed_on("view_order")
    tool_ask_user = _passed_on("ask_user")
    tool_tell_user = _passed_on("tell_user")
    tool_offer = _passed_on("offer")
    tool_report_impossible = _passed_on("report_impossible")

    # The service desk
    tool_read_policy = _passed_on("read_policy")
    tool_find_customer = _passed_on("find_customer")
    tool_show_customer = _passed_on("show_customer")
    tool_show_order = _passed_on("show_order")
    tool_list_variants = _passed_on("list_variants")
    tool_cancel_order = _passed_on("cancel_order")
    tool_return_items = _passed_on("return_items")
    tool_exchange_item = _passed_on("exchange_item")
    tool_change_item = _passed_on("change_item")
    tool_change_address = _passed_on("change_address")
    tool_refund_delivery = _passed_on("refund_delivery")
    tool_propose = _passed_on("propose")
    tool_finish_case = _passed_on("finish_case")

    # WebShop
    tool_click = _passed_on("click")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._world: World | None = None
        self._world_task: Task | None = None

    def on_reset(self, task: Task) -> str:
        """Open the task's world."""
        self._world = open_world(task, self.np_random)
        self._world_task = task
        return self._world.opening()

    def on_text(self, text: str) -> str:
        """Hand prose to the person in the world."""
        answer = self.world.say(text)
        self._end_if_closed()
        return answer

    def run_in_world(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool of the world."""
        try:
            return self.world.call(name, arguments)
        except DeskProblem as problem:
            raise ToolError(str(problem)) from None
        finally:
            self._end_if_closed()

    @property
    def world(self) -> World:
        """The current world."""
        if self._world is None:
            raise RuntimeError("there is no world yet; call reset() first")
        return self._world

    def final_state(self) -> dict[str, Any]:
        """Return the world's final state."""
        return self.world.final_state()

    def save(self) -> Any:
        """Return the world's state."""
        return self.world.save()

    def load(self, payload: Any) -> None:
        """Take a world's state back, opening the world where it is another task's."""
        if self._world is None or self._world_task is not self.task:
            self._world, self._world_task = open_world(self.task, self.np_random), self.task
        self._world.load(payload)

    def detach(self) -> None:
        """Give a fork a world of its own; `load` fills it."""
        self._world = copy.copy(self._world)

    def _end_if_closed(self) -> None:
        if self.world.closed:
            self.finish()


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of shopping environments; named by the registered id."""
    from hexathlon.envs.vector import make_vector as make

    return make(ShoppingEnv, num_envs, **kwargs)
