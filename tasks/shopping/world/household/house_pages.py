"""The pages of a household and of its market: tools that only read."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.shopping.world.household.goods import CONTENTS, KINDS, MarketKind
from hexathlon.tasks.shopping.world.looks import LOOKS, labelled_rows
from hexathlon.tasks.shopping.world.record_desk import RecordDesk
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["HousePages"]


class HousePages(RecordDesk[Any]):
    """What can be read, in the look of the episode.

    Args:
        params: As for `Household`.
    """

    requests: Sequence[Mapping[str, Any]]

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__(params)
        self._params = params

    @property
    def today(self) -> int:
        """Present day."""
        raise NotImplementedError

    def record(self, table: str, key: str) -> Record:
        """Return a record.

        Raises:
            DeskProblem: If there is none.
        """
        found = self.tables.get(table, key)
        if found is None:
            raise DeskProblem(self._say(f"there is no {key[:60]!r}", f"没有 {key[:60]!r}"))
        return found

    # The house -----------------------------------------------------------------------------------

    def do_read_rules(self) -> str:
        """Read the rules of the house."""
        return "\n".join(f"{n}. {rule}" for n, rule in enumerate(self._params["rules"], 1))

    def do_read_notices(self) -> str:
        """Read the notices up to today."""
        notices = [n for n in self._params["notices"] if n["day"] <= self.today]
        line = self._say("day {}, {}: {}", "第{}天，{}：{}")
        lines = [line.format(n["day"], n["by"], n["text"]) for n in notices]
        return "\n".join(lines) or self._say("There are no notices.", "没有留言。")

    def do_show_member(self, member: str) -> str:
        """Show what is known of a member."""
        return "\n".join(self.record("members", member.strip())["facts"])

    def do_show_supplies(self) -> str:
        """Show supplies and devices."""
        lines = []
        for key in self.tables.keys("supplies"):
            record = self.record("supplies", key)
            kind = KINDS[key]
            unit = self._say(f" {kind.unit_en}", kind.unit_zh)
            lines.append(
                self._say(
                    f"{kind.en}: {record['left']}{unit} left on day {record['day']}, "
                    f"{record['rate']} used a day",
                    f"{kind.zh}：第{record['day']}天剩{record['left']}{unit}，"
                    f"每天用{record['rate']}{unit}",
                )
            )
        return "\n".join([*lines, *self._params["devices"]]) or self._nothing()

    def do_show_calendar(self) -> str:
        """Show the calendar."""
        return "\n".join(self._params["calendar"]) or self._nothing()

    def do_show_history(self) -> str:
        """Show orders of earlier months."""
        return "\n".join(self._params["history"]) or self._nothing()

    def do_ask(self, member: str, topic: str) -> str:
        """Ask a member about one topic of the request in hand."""
        name = member.strip()
        self.record("members", name)
        answers = self.requests[min(self.state.request, len(self.requests) - 1)]["answers"]
        answer = answers.get(f"{name}/{topic}")
        return str(answer) if answer else self._say("Nothing to add.", "没什么要补充的。")

    # The market ----------------------------------------------------------------------------------

    def do_list_offers(self, kind: str) -> str:
        """List the offers of a kind."""
        found = self._kind(kind)
        offers = [self.record("offers", key) for key in self.tables.keys("offers")]
        rows = [self._short(offer, found) for offer in offers if offer["kind"] == found.slug]
        return self._shown(rows, found)

    def do_show_offers(self, offers: list[str]) -> str:
        """Show offers in full."""
        shown = []
        for name in offers[:4]:
            offer = self.record("offers", name.strip().upper())
            kind = KINDS[offer["kind"]]
            contents = [CONTENTS[slug][self._language == "zh"] for slug in offer["contents"]]
            row = {
                **self._short(offer, kind),
                "stock": str(offer["stock"]),
                "dispatch": str(offer["dispatch"]),
                "contains": self._say(", ", "、").join(contents) or self._say("none", "无"),
                "returns": str(offer["returns"]),
                "reviews": str(len(offer["reviews"])),
            }
            shown.append(self._shown([row], kind))
        return "\n\n".join(shown)

    def do_read_reviews(self, offer: str) -> str:
        """Read the reviews of an offer."""
        record = self.record("offers", offer.strip().upper())
        mark = {True: self._say("verified buyer", "已购买"), False: self._say("guest", "游客")}
        line = self._say("({}) {}", "（{}）{}")
        lines = [line.format(mark[r["verified"]], r["text"]) for r in record["reviews"]]
        return "\n".join(lines) or self._say("There are no reviews.", "暂无评价。")

    def do_list_sellers(self) -> str:
        """List the sellers with their terms."""
        rows = []
        for key in self.tables.keys("sellers"):
            seller = self.record("sellers", key)
            bundle = seller["bundle"]
            off = money(bundle["cents"], self._language)
            rows.append({
                "id": key,
                "fee": money(seller["fee_cents"], self._language),
                "free": money(seller["free_cents"], self._language),
                "days": str(seller["days"]),
                "pause": f"{seller['pause'][0]}–{seller['pause'][1]}",
                "bundle": self._say(f"{off} off with {bundle['kinds']} or more kinds of goods",
                                    f"满{bundle['kinds']}类商品减{off}"),
            })  # fmt: skip
        return labelled_rows(rows, LOOKS[self.state.look], self._language)

    def do_list_orders(self) -> str:
        """List the orders of this month with their parcels."""
        lines = []
        for key in self.tables.keys("orders"):
            order = self.record("orders", key)
            lines.append(
                f"{key}  {money(order['total_cents'], self._language)}"
                f"{self._say(', refunded ', '，已退')}"
                f"{money(order['refund_cents'], self._language)}"
            )
            for name, line in order["lines"].items():
                kind = KINDS[self.record("offers", name)["kind"]].name(self._language)
                lines.append(
                    self._say(
                        f"  {name} ({kind}) x {line['packs']}, {money(line['cents'], 'en')} each; "
                        f"sent day {line['sent']}, arrives day {line['arrives']}, returns until "
                        f"day {line['until']}",
                        f"  {name}（{kind}）x {line['packs']}，每包{money(line['cents'], 'zh')}；"
                        f"第{line['sent']}天发出，第{line['arrives']}天到，"
                        f"可退到第{line['until']}天",
                    )
                )
        return "\n".join(lines) or self._say("There are no orders this month.", "本月还没有订单。")

    def _nothing(self) -> str:
        return self._say("Nothing is listed.", "没有记录。")

    def _short(self, offer: Record, kind: MarketKind) -> dict[str, str]:
        unit = kind.unit_en.removesuffix("s") if offer["units"] == 1 else kind.unit_en
        units = self._say(f"{offer['units']} {unit}", f"{offer['units']}{kind.unit_zh}")
        return {
            "id": offer["id"],
            "brand": offer["brand"],
            **({"fit": offer["fit"]} if kind.fits else {}),
            **({"units": units} if kind.unit_en else {}),
            "price": money(offer["cents"], self._language),
            "seller": offer["seller"],
        }

    def _shown(self, rows: list[dict[str, str]], kind: MarketKind) -> str:
        heading = kind.name(self._language).removeprefix("a ")
        shown = labelled_rows(
            rows, LOOKS[self.state.look], self._language, {"fit": kind.fit_name(self._language)}
        )
        return f"{heading}\n{shown}"

    def _kind(self, text: str) -> MarketKind:
        folded = " ".join(text.casefold().split())
        for kind in KINDS.values():
            names = (kind.slug, kind.en, kind.en.removeprefix("a "), kind.zh)
            if folded in [name.casefold() for name in names]:
                return kind
        known = self._say(", ", "、").join(kind.name(self._language) for kind in KINDS.values())
        raise DeskProblem(self._say(f"the kinds are: {known}", f"品类有：{known}"))
