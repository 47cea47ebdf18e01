"""The household's month: requests one after the other, a market, and orders that can be changed.

Tools check that a call is possible, not that it follows the rules of the house. Parameters come
from the task; all that changes is in `save()`. `house_pages` has the tools that only read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.shopping.world.household.house_pages import HousePages
from hexathlon.tasks.shopping.world.household.prices import arrival, lines_total, sending_day
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["HouseState", "Household"]


class HouseState(NamedTuple):
    """Everything that changes during a month, except records."""

    request: int = 0
    """Position of the current request."""

    stirred: bool = False
    """Whether the market has moved under this request's first order."""

    declines: tuple[tuple[str, str], ...] = ()
    """Record and reason of each refusal in this request."""

    closes: tuple[Mapping[str, Any], ...] = ()
    """Changes, refusals and remaining budget of each finished request."""

    look: str = "stall"


class Household(HousePages):
    """One household's month.

    Args:
        params: `records` ([table, key, record]), `requests`, `rules`, `notices`, `calendar`,
            `devices`, `history` and `language`.
        look: Name of the look of all pages.
    """

    def __init__(self, params: Mapping[str, Any], look: str = "stall") -> None:
        super().__init__(params)
        self.requests: Sequence[Mapping[str, Any]] = params["requests"]
        self.state = HouseState(look=look)
        self._arrive()

    # Course of the month -------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the last request has been finished."""
        return bool(self.state.request >= len(self.requests))

    @property
    def number(self) -> int:
        """Position of the request in hand, the last one once all are finished."""
        return int(min(self.state.request, len(self.requests) - 1))

    @property
    def today(self) -> int:
        """Present day."""
        return int(self.requests[self.number]["day"])

    @property
    def key(self) -> str:
        """Id of the order that belongs to this request."""
        return f"R{self.number + 1}"

    def heading(self) -> str:
        """Return the day and what is asked."""
        request = self.requests[self.number]
        count = f"{self.number + 1}/{len(self.requests)}"
        return self._say(
            f"[day {self.today}, request {count}] {request['by']}: {request['says']}",
            f"[第{self.today}天，第{count}件] {request['by']}：{request['says']}",
        )

    def left(self) -> int:
        """Return what is left of the budget, in cents."""
        budget = int((self.tables.get("budget", "month") or {})["cents"])
        for key in self.tables.keys("orders"):
            order = self.tables.get("orders", key) or {}
            budget -= order["total_cents"] - order["refund_cents"]
        return budget

    def do_finish_request(self, left_cents: int) -> str:
        """Finish the request; the next one follows."""
        known: dict[str, Any] = {}
        for entry in self.state.closes:
            known.update(entry["changes"])
        now = {
            key: record
            for key, record in self.tables.difference().items()
            if key.startswith("orders/")
        }
        changes = {key: record for key, record in now.items() if known.get(key) != record}
        changes |= dict.fromkeys(key for key in known if known[key] and key not in now)
        entry = {
            "changes": changes,
            "declines": dict(self.state.declines),
            "net_cents": int(left_cents),
        }
        self.state = HouseState(
            request=self.state.request + 1,
            closes=(*self.state.closes, entry),
            look=self.state.look,
        )
        if self.closed:
            return self._say("Finished. That was the last request.", "已完成，这是最后一件。")
        self._arrive()
        return f"{self._say('Finished.', '已完成。')}\n{self.heading()}"

    def arrived(self, kind: str) -> int:
        """Return the units of a kind that have arrived this month and were not given back."""
        units = 0
        for key in self.tables.keys("orders"):
            for name, line in (self.tables.get("orders", key) or {})["lines"].items():
                offer = self.record("offers", name)
                if offer["kind"] == kind and line["arrives"] <= self.today:
                    units += line["packs"] * offer["units"]
        return units

    def _arrive(self) -> None:
        """Let the market and the supplies move until the request.

        Records of supplies assume the reference's orders; what is left follows the real ones.
        """
        for table, key, record in self.requests[self.number]["events"]:
            if table == "supplies":
                more = self.arrived(key) - record["arrived"]
                record = {**record, "left": max(record["left"] + more, 0)}
            self.tables.put(table, key, record)

    # Orders --------------------------------------------------------------------------------------

    def do_place_order(self, lines: list[str]) -> str:
        """Order packs of offers; it replaces what this request has ordered so far."""
        chosen = self._chosen(lines)
        stir = self.requests[self.number]["stir"]
        if stir and not self.state.stirred:
            self.state = self.state._replace(stirred=True)
            for table, key, record in stir:
                self.tables.put(table, key, record)
            named = ", ".join(key for _, key, _ in stir)
            raise DeskProblem(
                self._say(
                    f"nothing was ordered: {named} has changed in the meantime",
                    f"未下单：{named} 刚刚有变动",
                )
            )
        for offer, packs in chosen:
            if packs > offer["stock"]:
                left = offer["stock"]
                packs_are = "pack of {} is" if left == 1 else "packs of {} are"
                raise DeskProblem(
                    self._say(
                        f"only {left} {packs_are.format(offer['id'])} in stock",
                        f"{offer['id']} 只剩{left}包",
                    )
                )
        sellers = {key: self.record("sellers", key) for key in self.tables.keys("sellers")}
        total = lines_total(chosen, sellers)
        self.tables.put(
            "orders",
            self.key,
            {
                "lines": {
                    offer["id"]: self._line(offer, packs, sellers[offer["seller"]])
                    for offer, packs in sorted(chosen, key=lambda line: str(line[0]["id"]))
                },
                "total_cents": total,
                "refund_cents": 0,
            },
        )
        return self._say(
            f"Ordered as {self.key}: {money(total, 'en')} with delivery.",
            f"已下单，订单号{self.key}，含运费{money(total, 'zh')}。",
        )

    def _chosen(self, lines: list[str]) -> list[tuple[Record, int]]:
        """Read lines such as "F101 x 2"."""
        chosen: list[tuple[Record, int]] = []
        for line in lines:
            offer, _, packs = str(line).replace("×", "x").partition("x")
            count = packs.strip() or "1"
            if not count.isdecimal() or not 1 <= int(count) <= 99:
                raise DeskProblem(
                    self._say(
                        f"{line[:40]!r}: write a line as in 'F101 x 2', offer and packs",
                        f"{line[:40]!r}：每行写作“F101 x 2”，即商品号和包数",
                    )
                )
            record = self.record("offers", offer.strip().upper())
            if any(known["id"] == record["id"] for known, _ in chosen):
                raise DeskProblem(
                    self._say(f"{record['id']} is named twice", f"{record['id']} 写了两次")
                )
            chosen.append((record, int(count)))
        if not chosen:
            raise DeskProblem(self._say("the order has no lines", "订单没有内容"))
        return chosen

    def _line(self, offer: Record, packs: int, seller: Record) -> dict[str, int]:
        arrives = arrival(offer, seller, self.today)
        return {
            "packs": packs,
            "cents": offer["cents"],
            "sent": sending_day(offer, seller, self.today),
            "arrives": arrives,
            "until": arrives + offer["returns"],
        }

    def do_give_back(self, order: str, offer: str, packs: int) -> str:
        """Cancel packs that have not been sent, or return packs that have arrived."""
        key, name = order.strip().upper(), offer.strip().upper()
        record = self.record("orders", key)
        line = record["lines"].get(name)
        if line is None or packs > line["packs"]:
            raise DeskProblem(
                self._say(f"{key} has no {packs} packs of {name}", f"{key} 没有{packs}包 {name}")
            )
        problem = self.stuck(line)
        if problem:
            raise DeskProblem(problem)
        lines = {**record["lines"], name: {**line, "packs": line["packs"] - packs}}
        refund = record["refund_cents"] + line["cents"] * packs
        self.tables.put("orders", key, {**record, "lines": lines, "refund_cents": refund})
        return self._say(
            f"Done: {money(line['cents'] * packs, 'en')} are refunded.",
            f"已办理，退款{money(line['cents'] * packs, 'zh')}。",
        )

    def stuck(self, line: Mapping[str, int]) -> str:
        """Return why packs of a line cannot be given back today; empty if they can."""
        if line["sent"] <= self.today < line["arrives"]:
            return self._say(
                "it is on its way; it can be given back once it has arrived",
                "已发出，到货后才能退",
            )
        if self.today > line["until"]:
            return self._say("it can no longer be returned", "已过退货期")
        return ""

    def do_decline(self, reason: str, record: str) -> str:
        """Decline the request or a part of it."""
        key = self._record_named(record)
        kept = tuple(entry for entry in self.state.declines if entry[0] != key)
        added = () if reason == "none" else ((key, reason),)
        self.state = self.state._replace(declines=(*kept, *added))
        return self._say("Noted.", "已记录。")

    def _record_named(self, text: str) -> str:
        """Return an order, an offer, a member or the budget in its own spelling; else the text."""
        folded = text.strip().casefold()
        keys = (key for table in ("orders", "offers", "members") for key in self.tables.keys(table))
        return next((key for key in ("budget", *keys) if key.casefold() == folded), text.strip())
