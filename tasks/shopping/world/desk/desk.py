"""The service desk's tools over customers and orders; they validate records, not the policy."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Catalogue, Variant
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.tables import Record, Tables
from hexathlon.tasks.shopping.world.wording import (
    STATUSES,
    TIERS,
    address_text,
    chosen_text,
    days_text,
    money,
    say,
)

__all__ = ["ServiceDesk", "subject_of"]


def subject_of(action: str, arguments: Mapping[str, Any]) -> str:
    """Return a write as one line of text; equal writes give equal lines.

    Lines may have their order's id in front, as in the policy: "O12345678/1" is line 1.
    """
    parts = []
    for name, value in sorted(arguments.items()):
        if name == "line":
            value = _line_number(value)
        elif name == "lines" and isinstance(value, list):
            value = [_line_number(line) for line in value]
        shown = "+".join(sorted(map(str, value))) if isinstance(value, list) else str(value)
        parts.append(f"{name}={' '.join(shown.split())}")
    return f"{action}({'; '.join(parts)})"


class ServiceDesk:
    """The tools over one episode's tables."""

    def __init__(self, tables: Tables, catalogue: Catalogue, language: Language) -> None:
        self.tables = tables
        self._catalogue = catalogue
        self._language = language

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool.

        Raises:
            DeskProblem: If the call cannot be carried out; nothing has changed then.
        """
        return cast("Callable[..., str]", getattr(self, f"do_{name}"))(**arguments)

    # Reading -----------------------------------------------------------------------------------

    def do_find_customer(self, email: str = "", name: str = "", postcode: str = "") -> str:
        """Find a customer."""
        for key in self.tables.keys("customers"):
            record = self._record("customers", key)
            by_mail = email and record["email"] == email.strip().casefold()
            by_name = name and _fold(record["name"]) == _fold(name)
            if by_mail or (by_name and record["address"]["postcode"] == postcode.strip()):
                return key
        raise DeskProblem(self._say("no customer fits", "没有符合的顾客"))

    def do_show_customer(self, customer: str) -> str:
        """Show a customer."""
        record = self._record("customers", customer)
        address = record["address"]
        lines = [
            f"{record['id']}  {record['name']}  {record['email']}  "
            f"{self._say('tier: ', '等级：')}{self._say(*TIERS[record['tier']])}",
            address_text(address, self._language),
        ]
        for key, method in record["payments"].items():
            balance = method.get("balance_cents")
            shown = "" if balance is None else f" {money(balance, self._language)}"
            kind = self._say(method["kind"], _METHODS[method["kind"]])
            lines.append(f"{key}{self._say(': ', '：')}{kind}{shown}")
        lines += [
            f"{number:2}. {self._order_line(order)}"
            for number, order in enumerate(record["orders"], 1)
        ]
        return "\n".join(lines)

    def do_show_order(self, order: str) -> str:
        """Show an order."""
        record = self._record("orders", order)
        address = record["address"]
        lines = [
            self._order_line(record["id"]),
            f"{self._say('customer: ', '顾客：')}{record['customer']}",
            address_text(address, self._language),
            f"{self._say('payment: ', '支付方式：')}{record['payment']}"
            f"{self._say('; delivery fee: ', '；运费：')}"
            f"{money(record['delivery_cents'], self._language)}",
        ]
        for line in record["lines"]:
            number = line["line"]
            product = self._catalogue.product(line["product"])
            variant = product.variant(line["variant"])
            mark = f" [{self._say('final sale', '特价')}]" if line["final_sale"] else ""
            lines.append(
                f"{self._say(f'line {number}: ', f'第{number}行：')}"
                f"{product.title[self._language]} "
                f"({chosen_text(product, variant, self._language)}; {variant.id})  "
                f"{money(line['cents'], self._language)}{mark}"
            )
        lines += [f"{name}: {record[name]}" for name in _NOTES if record.get(name)]
        return "\n".join(lines)

    def do_list_variants(self, item: str) -> str:
        """List variants."""
        try:
            product = self._catalogue.product(item.strip().upper())
        except KeyError:
            raise DeskProblem(
                self._say(f"there is no item {item[:60]!r}", f"没有商品 {item[:60]!r}")
            ) from None
        lines = [product.title[self._language]]
        for variant in product.variants:
            stock = (
                self._say(f"{variant.stock} in stock", f"库存{variant.stock}件")
                if variant.stock
                else self._say("sold out", "缺货")
            )
            lines.append(
                f"{variant.id}  {chosen_text(product, variant, self._language)}  "
                f"{money(variant.price_cents, self._language)}  {stock}"
            )
        return "\n".join(lines)

    # Writing -----------------------------------------------------------------------------------

    def do_cancel_order(self, order: str, reason: str) -> str:
        """Cancel an order."""
        record = self._in_status(order, "pending")
        return self._write(record, status="cancelled", cancelled=reason)

    def do_return_items(self, order: str, lines: list[str], refund_to: str) -> str:
        """Return items."""
        record = self._in_status(order, "delivered")
        self._require_payment(record, refund_to)
        if not lines:
            raise DeskProblem(self._line_words(record, ""))
        wanted = sorted({self._line(record, line)["line"] for line in lines})
        if len(wanted) != len(lines):
            raise DeskProblem(self._say("a line is named twice", "同一行写了两次"))
        if record.get("returned"):
            raise DeskProblem(self._say("a return was already made", "已经办理过退货"))
        return self._write(record, returned={"lines": wanted, "refund_to": refund_to})

    def do_exchange_item(self, order: str, line: str, variant: str) -> str:
        """Exchange an item after delivery."""
        record = self._in_status(order, "delivered")
        new = self._other_variant(record, line, variant)
        old = self._line(record, line)
        difference = new.price_cents - old["cents"]
        change = {"line": old["line"], "variant": new.id, "difference_cents": difference}
        if record.get("exchanged"):
            raise DeskProblem(self._say("an exchange was already made", "已经办理过换货"))
        return self._write(record, exchanged=change)

    def do_change_item(self, order: str, line: str, variant: str) -> str:
        """Change an item before shipping."""
        record = self._in_status(order, "pending")
        new = self._other_variant(record, line, variant)
        number = self._line(record, line)["line"]
        lines = [
            {**old, "variant": new.id, "cents": new.price_cents} if old["line"] == number else old
            for old in record["lines"]
        ]
        return self._write(record, lines=lines)

    def do_change_address(self, order: str, street: str, city: str, postcode: str) -> str:
        """Change the address."""
        record = self._in_status(order, "pending")
        place = {"street": street.strip(), "city": city.strip(), "postcode": postcode.strip()}
        return self._write(record, address=place)

    def do_refund_delivery(self, order: str, cents: int, refund_to: str) -> str:
        """Refund the delivery fee for late delivery."""
        record = self._in_status(order, "delivered")
        self._require_payment(record, refund_to)
        if record.get("compensated"):
            raise DeskProblem(self._say("this was already refunded", "已经退过款"))
        return self._write(record, compensated={"cents": int(cents), "refund_to": refund_to})

    # Parts -------------------------------------------------------------------------------------

    def _record(self, table: str, key: str) -> Record:
        record = self.tables.get(table, key.strip())
        if record is None:
            raise DeskProblem(self._say(f"there is no {key[:60]!r}", f"没有 {key[:60]!r}"))
        return record

    def _in_status(self, order: str, status: str) -> Record:
        record = self._record("orders", order)
        if record["status"] != status:
            raise DeskProblem(
                self._say(
                    f"{record['id']} is {record['status']}, not {status}",
                    f"{record['id']} 的状态是 {record['status']}，不是 {status}",
                )
            )
        return record

    def _require_payment(self, order: Record, method: str) -> None:
        payments = self._record("customers", order["customer"])["payments"]
        if method not in payments:
            known = ", ".join(payments)
            raise DeskProblem(
                self._say(f"the payment methods are {known}", f"可用的支付方式：{known}")
            )

    def _line(self, order: Record, line: str) -> Record:
        """Return a line by its number, alone or after the order's id."""
        for known in order["lines"]:
            if line.strip() in (known["line"], f"{order['id']}/{known['line']}"):
                return cast("Record", known)
        raise DeskProblem(self._line_words(order, line))

    def _line_words(self, order: Record, line: str) -> str:
        numbers = ", ".join(known["line"] for known in order["lines"])
        example = f"{order['id']}/{order['lines'][0]['line']}"
        return self._say(
            f"{order['id']} has no line {line[:40]!r}; its lines are {numbers}: give the number "
            f"alone or as in {example}",
            f"{order['id']} 没有行 {line[:40]!r}；该订单的行号：{numbers}，可写行号或如 {example}",
        )

    def _other_variant(self, order: Record, line: str, variant: str) -> Variant:
        old = self._line(order, line)
        product = self._catalogue.product(old["product"])
        found = next((v for v in product.variants if v.id == variant.strip()), None)
        if found is None or found.id == old["variant"]:
            raise DeskProblem(
                self._say(
                    f"{variant[:60]!r} is no other variant of {product.id}",
                    f"{variant[:60]!r} 不是 {product.id} 的其他款式",
                )
            )
        return found

    def _write(self, order: Record, **fields: Any) -> str:
        self.tables.put("orders", order["id"], {**order, **fields})
        return self._say(f"Done: {order['id']}.", f"已办理：{order['id']}。")

    def _order_line(self, order_id: str) -> str:
        record = self._record("orders", order_id)
        status = self._say(record["status"], STATUSES[record["status"]])
        return f"{record['id']}  {status}  {days_text(record, self._language)}"

    def _say(self, en: str, zh: str) -> str:
        return say(self._language, en, zh)


_METHODS = {"card": "银行卡", "gift card": "礼品卡"}
_NOTES = ("cancelled", "returned", "exchanged", "compensated")


def _line_number(line: object) -> str:
    return str(line).strip().rpartition("/")[2]


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
