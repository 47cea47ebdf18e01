"""The query for a metric, under any reading of the rules: the right one, or one with a mistake."""

from dataclasses import dataclass, replace

from hexathlon.tasks.sql.estates.layout import EstateLayout
from hexathlon.tasks.sql.estates.spec import AS_OF, KEPT_SEGMENT, SETTLEMENT, UNIT, EstateSpec
from hexathlon.tasks.sql.programs.phrases import literals

__all__ = ["EstateReading", "mistakes", "query", "right_reading"]

_EURO = "'EUR'"


@dataclass(frozen=True)
class EstateReading:
    """How a query treats each twist, the choice of a date, and the storage of rows.

    `right_reading` sets what holds in a task. Of the last fields, False (or True for `dead`) is a
    mistake: `states` and `deleted` say whether rows that do not count are left out, `spelt` whether
    typed account numbers are normalised, and `dead` whether a dead copy is read.
    """

    cutover: str = "right"
    consolidation: str = "right"
    units: str = "right"
    fx: str = "A"
    vat: bool = False
    excluded: str = "right"
    late: bool = False
    region: str = "then"
    copies: str = "right"
    restated: str = "right"
    settled: bool = True
    """False: lines about payment change amounts, too."""
    kept: bool = True
    """False: the exclusion spares no segment."""
    credits: str = "own"
    fiscal: bool = True
    merged: bool = False
    renewals: str = "none"
    ends: bool = False
    tolerance: str = "none"
    basis: str = "own"
    states: bool = True
    deleted: bool = True
    spelt: bool = True
    dead: bool = False
    plainly: bool = True
    """False: the same in other words."""


def right_reading(spec: EstateSpec) -> EstateReading:
    """Return the reading that holds."""
    active = spec.twists
    return EstateReading(
        fx=spec.fx_rule, vat="vat" in active, late="late" in active, region=spec.region_rule,
        credits="own" if spec.metric == "overdue" else spec.credit_rule,
        merged="merged" in active, renewals="right" if "renewals" in active else "none",
        ends="ends" in active, tolerance="right" if "tolerance" in active else "none",
        basis=spec.basis,
    )  # fmt: skip


def mistakes(spec: EstateSpec) -> dict[str, tuple[str, EstateReading]]:
    """Return readings with one mistake, each with the twist that it ignores; empty if none."""
    right = right_reading(spec)
    other_fx = "E" if spec.fx_rule == "A" else "A"
    other_region = "now" if spec.region_rule == "then" else "then"
    other_credit = "ref" if right.credits == "own" else "own"
    wrong: dict[str, tuple[str, EstateReading]] = {
        "cutover_ignored": ("cutover", replace(right, cutover="none")),
        "cutover_as_planned": ("", replace(right, cutover="plan")),
        "consolidation_ignored": ("consolidation", replace(right, consolidation="none")),
        "consolidation_at_signing": ("", replace(right, consolidation="signing")),
        "units_ignored": ("units", replace(right, units="none")),
        "units_as_planned": ("", replace(right, units="plan")),
        "currency_ignored": ("fx", replace(right, fx="none")),
        "other_rate": ("fx", replace(right, fx=other_fx)),
        "rate_inverted": ("", replace(right, fx="inverted")),
        "gross_amounts": ("vat", replace(right, vat=False)),
        "exclusions_ignored": ("excluded", replace(right, excluded="none")),
        "excluded_for_ever": ("", replace(right, excluded="ever")),
        "no_segment_spared": (
            "" if spec.metric == "clients" else "excluded", replace(right, kept=False)
        ),
        "late_ignored": ("late", replace(right, late=False)),
        "other_region": ("region", replace(right, region=other_region)),
        "copies_counted": ("copies", replace(right, copies="none")),
        "all_references_dropped": ("", replace(right, copies="all")),
        "corrections_ignored": ("restated", replace(right, restated="none")),
        "settlements_taken": (
            "" if spec.metric == "clients" else "restated", replace(right, settled=False)
        ),
        "drafts_taken": ("", replace(right, restated="draft")),
        "credits_ignored": ("credits", replace(right, credits="none")),
        "credits_at_other_date": ("", replace(right, credits=other_credit)),
        "calendar_quarter": ("fiscal", replace(right, fiscal=False)),
        "merged_apart": ("merged", replace(right, merged=False)),
        "renewals_ignored": ("renewals", replace(right, renewals="none")),
        "renewals_at_last_setting": ("", replace(right, renewals="last")),
        "ends_alike": ("ends", replace(right, ends=False)),
        "no_tolerance": ("tolerance", replace(right, tolerance="none")),
        "other_date": (
            "basis", replace(right, basis="alt" if spec.basis == "own" else "own")
        ),
        "states_ignored": ("", replace(right, states=False)),
        "deleted_counted": ("", replace(right, deleted=False)),
        "keys_as_stored": ("", replace(right, spelt=False)),
        "dead_table": ("", replace(right, dead=True)),
    }  # fmt: skip
    if spec.metric == "overdue":
        del wrong["credits_at_other_date"]
    needed = {*spec.twists, "basis"}
    return {
        name: (twist if twist in needed else "", reading)
        for name, (twist, reading) in wrong.items()
        if reading != right
    }


def query(spec: EstateSpec, layout: EstateLayout, reading: EstateReading) -> str:
    """Return the query for the metric under a reading."""
    return _Query(spec, layout, reading).text()


class _Query:
    """The statement for a metric, written with roles of tables and columns."""

    def __init__(self, spec: EstateSpec, layout: EstateLayout, reading: EstateReading) -> None:
        self.spec, self.layout, self.reading = spec, layout, reading
        self.flow = spec.flow

    def text(self) -> str:
        """Return the whole statement."""
        sql = self.layout(f"WITH ev AS ({self._documents()}), {self._final()}")
        if self.reading.dead:
            role = "N" + self.flow
            live, dead = self.layout.tables[role], self.layout.dead[role][0]
            sql = sql.replace(f" {live} ", f" {dead} ")
        return sql

    # -- documents -----------------------------------------------------------------------------

    def _day(self, role: str, field: str) -> str:
        column = f"t.@{role}.{field}"
        if role[0] == "L":
            return (
                f"SUBSTR({column}, 1, 4) || '-' || SUBSTR({column}, 5, 2) || '-' || "
                f"SUBSTR({column}, 7, 2)"
            )
        if role[0] == "N":
            return column
        if self.layout.dotted:
            return (
                f"SUBSTR({column}, 7, 4) || '-' || SUBSTR({column}, 4, 2) || '-' || "
                f"SUBSTR({column}, 1, 2)"
            )
        return f"SUBSTR({column}, 1, 10)"

    def _alive(self, role: str, kinds: str = "typ") -> str:
        """Return the condition that a row counts by its state."""
        codes, tests = self.layout.codes, ["1 = 1"]
        if role[0] == "L":
            if kinds:
                tests.append(f"t.@{role}.typ IN ({literals(codes[kinds])})")
            if self.reading.deleted:
                tests.append(f"t.@{role}.del <> 'X'")
        elif role[0] == "N":
            if self.reading.states and not role.endswith("pay"):
                tests.append(f"t.@{role}.stat IN ({literals(codes['Nok'])})")
            if self.reading.deleted:
                tests.append(f"t.@{role}.del IS NULL")
        else:
            good = ", ".join(codes["Aok"])  # whole numbers
            if self.reading.states and not role.endswith("pay"):
                more = "" if self.reading.deleted else f" OR t.@{role}.stat = {codes['Adel'][0]}"
                tests.append(f"(t.@{role}.stat IN ({good}){more})")
            elif self.reading.deleted:
                tests.append(f"t.@{role}.stat <> {codes['Adel'][0]}")
        return " AND ".join(tests)

    def _amount(self, role: str) -> str:
        """Return an amount of A in present units, without tax."""
        spec, value = self.spec, f"t.@{role}.val"
        release = {
            "right": spec.release, "none": "0000", "plan": spec.release_plan,
        }[self.reading.units]  # fmt: skip
        dated = self._day(role, "day" if self.flow == "ctr" else "ent")
        factor = UNIT[self.flow]
        former = f"{value} * {factor}" if self.flow == "dlv" else f"{value} / {factor}.0"
        amount = f"(CASE WHEN {dated} < '{release}' THEN {former} ELSE {value} END)"
        if self.reading.vat and role in ("Asale", "Acred"):
            own = self._day(role, "day")
            amount += (
                f" / (1 + (SELECT v.@vat.pct FROM @vat v WHERE v.@vat.code = t.@{role}.vat "
                f"AND v.@vat.first <= {own} AND (v.@vat.end IS NULL OR v.@vat.end > {own}))"
                " / 100.0)"
            )
        return amount

    def _documents(self) -> str:
        spec, flow, reading = self.spec, self.flow, self.reading
        old, new, bought = "L" + flow, "N" + flow, "A" + flow
        tests = {"L": self._alive(old, "Ltyp"), "N": self._alive(new), "A": self._alive(bought)}
        cutover = {"right": spec.cutover, "plan": spec.cutover_plan, "none": ""}[reading.cutover]
        if cutover:
            tests["L"] += f" AND {self._day(old, 'day')} < '{cutover}'"
            tests["N"] += f" AND t.@{new}.day >= '{cutover}' AND t.@{new}.org <> 'MIG'"
        start = {
            "right": spec.consolidation, "signing": spec.signing, "none": "",
        }[reading.consolidation]  # fmt: skip
        if start and spec.metric not in AS_OF:
            own = self._day(bought, "day" if flow == "sale" else "day2")
            tests["A"] += f" AND ({own} IS NULL OR {own} >= '{start}')"
        if reading.copies == "right":
            tests["A"] += (
                f" AND (t.@{bought}.ext IS NULL OR t.@{bought}.ext NOT IN "
                f"(SELECT n.@{new}.no FROM @{new} n))"
            )
        elif reading.copies == "all":
            tests["A"] += f" AND t.@{bought}.ext IS NULL"
        dates = ("day", "day2", "alt", "bil", "ent")

        def selected(role: str, cust: str, value: str, currency: str) -> str:
            days = ", ".join(f"{self._day(role, name)} AS {name}" for name in dates)
            return (
                f"SELECT t.@{role}.no AS no, {cust} AS cust, {days}, {value} AS val, "
                f"{currency} AS ccy FROM @{role} t"
            )

        currency = f"t.@{bought}.ccy" if flow != "dlv" else _EURO
        key = f"UPPER(TRIM(t.@{bought}.cust))" if reading.spelt else f"t.@{bought}.cust"
        system = self.layout.systems["A"].upper()
        parts = [
            f"{selected(old, f'CAST(t.@{old}.cust AS INTEGER)', f't.@{old}.val', _EURO)} "
            f"WHERE {tests['L']}",
            f"{selected(new, f't.@{new}.cust', f't.@{new}.val', _EURO)} WHERE {tests['N']}",
            f"{selected(bought, 'x.@xref.cust', self._amount(bought), currency)} "
            f"JOIN @xref x ON x.@xref.key = {key} AND x.@xref.sys = '{system}' "
            f"WHERE {tests['A']}",
        ]  # fmt: skip
        return " UNION ALL ".join(parts)

    # -- rules ---------------------------------------------------------------------------------

    def _euro(self, value: str, currency: str, day: str) -> str:
        """Return an amount in euros at the rate of the month of a day."""
        rule = self.reading.fx
        if rule == "none" or self.flow == "dlv":
            return value
        kind = self.spec.fx_rule if rule == "inverted" else rule
        rate = (
            f"(SELECT f.@rate.rate FROM @rate f WHERE f.@rate.kind = '{kind}' AND "
            f"f.@rate.ccy = {currency} AND f.@rate.month = SUBSTR({day}, 1, 7))"
        )
        operator = "*" if rule == "inverted" else "/"
        if not self.reading.plainly:
            return f"{value} {operator} COALESCE({rate}, 1.0)"
        return f"{value} {operator} CASE WHEN {currency} = 'EUR' THEN 1.0 ELSE {rate} END"

    def _corrected(self, value: str, number: str) -> str:
        if self.reading.restated == "none":
            return value
        states = "('REL', 'DRF')" if self.reading.restated == "draft" else "('REL')"
        passed = f" AND k.@corr.why <> '{SETTLEMENT}'" if self.reading.settled else ""
        return (
            f"COALESCE((SELECT k.@corr.val FROM @corr k JOIN @batch b ON b.@batch.no = "
            f"k.@corr.batch WHERE k.@corr.no = {number} AND b.@batch.state IN {states}{passed} "
            f"ORDER BY b.@batch.on DESC LIMIT 1), {value})"
        )

    def _effective(self, reference: str, entered: str) -> str:
        """Return the reference date, or the entry date of what came after its closing."""
        if not self.reading.late:
            return reference
        return (
            f"(CASE WHEN {entered} > (SELECT p.@cal.closed FROM @cal p WHERE p.@cal.first <= "
            f"{reference} AND p.@cal.end > {reference}) THEN {entered} ELSE {reference} END)"
        )

    def _admitted(self, day: str, customer: str = "e.cust") -> str:
        """Return the condition that a customer is not excluded on a day."""
        if self.reading.excluded == "none":
            return "1 = 1"
        dated = ""
        if self.reading.excluded == "right":
            dated = (
                f" AND x.@excl.first <= {day} AND (x.@excl.last IS NULL OR x.@excl.last >= {day})"
            )
        name = self.layout.lists[0]
        if self.reading.kept:
            dated += (
                " AND NOT EXISTS (SELECT 1 FROM @cust y WHERE y.@cust.id = "
                f"CAST(x.@excl.cust AS INTEGER) AND y.@cust.seg = '{KEPT_SEGMENT}')"
            )
        if self.reading.plainly:
            return (
                f"NOT EXISTS (SELECT 1 FROM @excl x WHERE x.@excl.list = '{name}' AND "
                f"CAST(x.@excl.cust AS INTEGER) = {customer}{dated})"
            )
        return (
            f"{customer} NOT IN (SELECT CAST(x.@excl.cust AS INTEGER) FROM @excl x WHERE "
            f"x.@excl.list = '{name}'{dated})"
        )

    def _regioned(self, day: str, source: str) -> str:
        """Return the joins from a source with `cust` to its region `r`."""
        on = day if self.reading.region == "then" else f"'{self.spec.today}'"
        return (
            f"{source} JOIN @cust c ON c.@cust.id = {source.split()[-1]}.cust JOIN @map m ON "
            f"m.@map.district = c.@cust.district AND m.@map.first <= {on} AND (m.@map.end IS NULL "
            f"OR m.@map.end > {on}) JOIN @region r ON r.@region.code = m.@map.region"
        )

    def _reference(self) -> str:
        """Return the date of a document that decides on its period."""
        own = "e.day" if self.flow == "sale" else "e.day2"
        return own if self.reading.basis == "own" else "e.alt"

    def _period(self) -> tuple[str, str]:
        return (self.spec.first, self.spec.end) if self.reading.fiscal else self.spec.plain

    # -- metrics -------------------------------------------------------------------------------

    def _final(self) -> str:
        return {
            "revenue": self._revenue, "clients": self._clients, "overdue": self._overdue,
            "churn": self._churn, "recurring": self._recurring, "punctual": self._punctual,
        }[self.spec.metric]()  # fmt: skip

    def _lines(self) -> str:
        """Return invoices and credit notes of the period, in euros, as `ln`."""
        first, end = self._period()
        reference = self._effective(self._reference(), "e.ent")
        parts = [
            f"inv AS (SELECT e.*, {reference} AS eff FROM ev e), "
            f"ok AS (SELECT e.* FROM inv e WHERE {self._admitted('e.eff')}), "
            "ln AS (SELECT e.cust AS cust, e.eff AS eff, e.eff AS at, "
            f"{self._corrected(self._euro('e.val', 'e.ccy', 'e.eff'), 'e.no')} AS eur FROM ok e"
        ]
        if self.reading.credits != "none":
            own = self._effective("k.day", "k.ent")
            eff = own if self.reading.credits == "own" else "e.eff"
            parts.append(
                " UNION ALL SELECT e.cust, e.eff, "
                f"{eff}, -({self._euro('k.val', 'k.ccy', eff)}) FROM cr k "
                "JOIN ok e ON e.no = k.ref"
            )
        return (
            f"cr AS ({self._credit_notes()}), {''.join(parts)}), "
            f"pd AS (SELECT * FROM ln WHERE at >= '{first}' AND at < '{end}')"
        )

    def _credit_notes(self) -> str:
        value = self._amount("Acred")
        return (
            f"SELECT t.@Lsale.ref AS ref, {self._day('Lsale', 'day')} AS day, "
            f"{self._day('Lsale', 'ent')} AS ent, t.@Lsale.val AS val, 'EUR' AS ccy FROM @Lsale t "
            f"WHERE {self._alive('Lsale', 'Lcred')} UNION ALL "
            "SELECT t.@Ncred.ref, t.@Ncred.day, t.@Ncred.ent, t.@Ncred.val, 'EUR' FROM @Ncred t "
            f"WHERE {self._alive('Ncred')} UNION ALL "
            f"SELECT t.@Acred.ref, {self._day('Acred', 'day')}, {self._day('Acred', 'ent')}, "
            f"-({value}), t.@Acred.ccy FROM @Acred t WHERE {self._alive('Acred')}"
        )

    def _revenue(self) -> str:
        joined = self._regioned("p.eff", "pd p")
        return (
            f"{self._lines()} SELECT r.@region.name, SUM(p.eur) FROM {joined} "
            "GROUP BY r.@region.name"
        )

    def _clients(self) -> str:
        who = "COALESCE(c.@cust.into, c.@cust.id)" if self.reading.merged else "c.@cust.id"
        return (
            f"{self._lines()}, tt AS (SELECT {who} AS id, SUM(p.eur) AS eur FROM pd p "
            f"JOIN @cust c ON c.@cust.id = p.cust GROUP BY {who}) "
            "SELECT s.@cust.id, s.@cust.name, tt.eur FROM tt JOIN @cust s ON s.@cust.id = tt.id "
            "ORDER BY tt.eur DESC LIMIT 5"
        )

    def _overdue(self) -> str:
        day = self.spec.day
        due = "e.day2" if self.reading.basis == "own" else "COALESCE(e.bil, e.day2)"
        at = f"'{day}'"
        paid = (
            f"SELECT t.@Lpay.ref AS ref, {self._day('Lpay', 'day')} AS day, t.@Lpay.val AS val "
            f"FROM @Lpay t WHERE {self._alive('Lpay', '')} UNION ALL "
            "SELECT t.@Npay.ref, t.@Npay.day, t.@Npay.val FROM @Npay t "
            f"WHERE {self._alive('Npay')} UNION ALL "
            f"SELECT t.@Apay.ref, {self._day('Apay', 'day')}, {self._amount('Apay')} "
            f"FROM @Apay t WHERE {self._alive('Apay')}"
        )
        less = "SELECT ref, day, val FROM pay"
        if self.reading.credits != "none":
            less += " UNION ALL SELECT ref, day, val FROM cr"
        euro = self._corrected(self._euro("e.val", "e.ccy", at), "e.no")
        return (
            f"cr AS ({self._credit_notes()}), pay AS ({paid}), "
            f"les AS (SELECT ref, SUM(val) AS val FROM ({less}) WHERE day <= {at} GROUP BY ref), "
            f"op AS (SELECT e.cust AS cust, {due} AS due, "
            f"{euro} - {self._euro('COALESCE(l.val, 0)', 'e.ccy', at)} AS eur "
            f"FROM ev e LEFT JOIN les l ON l.ref = e.no WHERE e.day <= {at} "
            f"AND {self._admitted(at)}) "
            "SELECT r.@region.name, SUM(o.eur), "
            f"SUM(CASE WHEN o.due < DATE({at}, '-60 days') THEN o.eur ELSE 0 END) "
            f"FROM {self._regioned(at, 'op o')} WHERE o.due < {at} AND o.eur >= 0.01 "
            "GROUP BY r.@region.name"
        )

    def _churn(self) -> str:
        first, end = self._period()
        reference = self._reference()
        kept = ""
        if self.reading.renewals != "none":
            days = self._setting(self.layout.settings[1], self.reading.renewals, "e.day2")
            kept = (
                " AND NOT EXISTS (SELECT 1 FROM ev s WHERE s.cust = e.cust AND s.day > e.day2 "
                f"AND s.day <= DATE(e.day2, '+' || {days} || ' days'))"
            )
        return (
            f"rf AS (SELECT e.*, {self._effective(reference, 'e.ent')} AS eff FROM ev e "
            f"WHERE {reference} IS NOT NULL{kept}), "
            f"pd AS (SELECT e.cust AS cust, e.eff AS eff, "
            f"{self._corrected(self._euro('e.val', 'e.ccy', 'e.eff'), 'e.no')} AS eur FROM rf e "
            f"WHERE e.eff >= '{first}' AND e.eff < '{end}' AND {self._admitted('e.eff')}) "
            f"SELECT r.@region.name, COUNT(*), SUM(p.eur) FROM {self._regioned('p.eff', 'pd p')} "
            "GROUP BY r.@region.name"
        )

    def _setting(self, key: str, which: str, day: str) -> str:
        if which == "last":
            day = f"'{self.spec.today}'"
        return (
            f"(SELECT g.@conf.value FROM @conf g WHERE g.@conf.key = '{key}' AND g.@conf.first <= "
            f"{day} AND (g.@conf.last IS NULL OR g.@conf.last >= {day}))"
        )

    def _recurring(self) -> str:
        at = f"'{self.spec.day}'"
        begun = "e.day" if self.reading.basis == "own" else "e.bil"
        numbers = self.layout.prefixes["A"]
        runs = f"(e.day2 IS NULL OR e.day2 >= {at})"
        if self.reading.ends:
            runs = (
                f"(e.day2 IS NULL OR e.day2 > {at} OR (e.day2 = {at} AND "
                f"SUBSTR(e.no, 1, {len(numbers)}) <> '{numbers}'))"
            )
        who = "COALESCE(c.@cust.into, c.@cust.id)" if self.reading.merged else "c.@cust.id"
        return (
            f"pd AS (SELECT {who} AS cust, "
            f"{self._corrected(self._euro('e.val', 'e.ccy', at), 'e.no')} AS eur FROM ev e "
            f"JOIN @cust c ON c.@cust.id = e.cust WHERE {begun} <= {at} AND {runs} "
            f"AND {self._admitted(at)}) "
            "SELECT w.@look.text, COUNT(DISTINCT p.cust), COUNT(*), SUM(p.eur) FROM pd p "
            "JOIN @cust s ON s.@cust.id = p.cust JOIN @look w ON w.@look.dom = 'SEG' "
            "AND w.@look.code = s.@cust.seg GROUP BY w.@look.text"
        )

    def _punctual(self) -> str:
        first, end = self._period()
        promised = "e.day" if self.reading.basis == "own" else "e.alt"
        limit = promised
        if self.reading.tolerance != "none":
            days = self._setting(self.layout.settings[0], "right", "e.day2")
            limit = f"DATE({promised}, '+' || {days} || ' days')"
        return (
            f"rf AS (SELECT e.*, {self._effective('e.day2', 'e.ent')} AS eff, {limit} AS until "
            "FROM ev e WHERE e.day2 IS NOT NULL), "
            f"pd AS (SELECT e.*, {self._corrected('e.val', 'e.no')} AS qty FROM rf e "
            f"WHERE e.eff >= '{first}' AND e.eff < '{end}' AND {self._admitted('e.eff')}) "
            "SELECT r.@region.name, SUM(p.qty), SUM(CASE WHEN p.day2 <= p.until THEN p.qty "
            f"ELSE 0 END) * 1.0 / SUM(p.qty) FROM {self._regioned('p.eff', 'pd p')} "
            "GROUP BY r.@region.name"
        )
