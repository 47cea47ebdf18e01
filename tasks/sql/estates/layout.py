"""Tables and columns of an estate: what they hold, and what each company calls them.

Roles name what is stored: `Lsale` is the table of sales documents of the first system (L), `N` is
its successor and `A` the system of the acquired firm. Statements are written with roles, as
`@Lsale` and `@Lsale.day`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.draws import ValueDraw
from hexathlon.tasks.sql.estates.spec import split_of

__all__ = ["FIELDS", "FLOW_ROLES", "VIEWS", "EstateLayout", "layout_of", "type_of"]

_Spellings = tuple[str, ...]

_OLD: Mapping[str, _Spellings] = {
    "no": ("DOCNO", "BELNR", "DOCNUM"), "cust": ("CUSNO", "KUNNR", "CSTNUM"),
    "day": ("DOCDT", "BLDAT", "DATDOC"), "ent": ("ENTDT", "ERDAT", "DATENT"),
    "typ": ("DOCTY", "FKART", "TYPDOC"), "del": ("DELFL", "LOEKZ", "FLGDEL"),
    "itm": ("ITMGR", "MATKL", "GRPITM"), "ref": ("REFNO", "VGBEL", "DOCREF"),
}  # fmt: skip
_NEW: Mapping[str, _Spellings] = {
    "no": ("doc_no", "doc_num", "vch_no"), "cust": ("cust_id", "cst_id", "bp_id"),
    "day": ("doc_dt", "dt_doc", "doc_date"), "ent": ("crt_dt", "rec_dt", "entry_dt"),
    "stat": ("st_cd", "stat_cd", "doc_st"), "del": ("del_ts", "deleted_at", "rm_ts"),
    "itm": ("itm_grp", "prd_grp", "pg_cd"), "org": ("src_cd", "orig_cd", "load_src"),
    "ref": ("ref_doc", "base_doc", "ref_no"),
}  # fmt: skip
_ACQ: Mapping[str, _Spellings] = {
    "no": ("VoucherNo", "DocumentRef", "RecordNo"), "cust": ("AccountRef", "PartyCode", "AcctNo"),
    "day": ("VoucherDate", "IssuedOn", "DateIssued"),
    "ent": ("KeyedOn", "CapturedOn", "DateKeyed"), "stat": ("RecState", "StateNo", "Lifecycle"),
    "itm": ("Family", "RangeCode", "Line"), "ext": ("ExtRef", "ForeignRef", "TheirRef"),
    "ccy": ("Curr", "CurrencyIso", "Ccy"), "vat": ("TaxKey", "VatKey", "TaxClass"),
    "ref": ("Against", "ParentVoucher", "RefVoucher"),
}  # fmt: skip
_OWN: Mapping[str, Mapping[str, Mapping[str, _Spellings]]] = {
    "sale": {
        "L": {"val": ("AMTNT", "NETWR", "NETAMT"), "day2": ("DUEDT", "FAEDT", "DATDUE"),
              "alt": ("SVCDT", "LSTDT", "DATSVC"), "bil": ("EXTDT", "STUDT", "DATEXT")},
        "N": {"val": ("net_amt", "amt_net", "nt_amt"), "day2": ("due_dt", "dt_due", "pay_due_dt"),
              "alt": ("svc_dt", "perf_dt", "serv_dt"),
              "bil": ("ext_due_dt", "due_dt_x", "resch_dt")},
        "A": {"val": ("Amount", "DocValue", "Total"), "day2": ("PayBy", "DueOn", "DateDue"),
              "alt": ("ServedOn", "PerformedOn", "DateServed"),
              "bil": ("DeferredTo", "PayByRevised", "DateDeferred")},
    },
    "ctr": {
        "L": {"val": ("FEEMT", "GEBMT", "FEEAMT"), "day2": ("ENDDT", "VENDE", "DATEND"),
              "alt": ("NTCDT", "KUEDT", "DATNTC"), "bil": ("BILDT", "ABRDT", "DATBIL")},
        "N": {"val": ("mth_fee", "fee_mth", "rec_fee"), "day2": ("end_dt", "to_dt", "dt_end"),
              "alt": ("ntc_dt", "notice_dt", "term_ntc_dt"),
              "bil": ("bill_from", "bil_st_dt", "inv_from_dt")},
        "A": {"val": ("Fee", "Charge", "Rate"), "day2": ("EndsOn", "Until", "DateEnd"),
              "alt": ("NoticeOn", "GivenNotice", "DateNotice"),
              "bil": ("BillsFrom", "FirstBill", "DateBilling")},
    },
    "dlv": {
        "L": {"val": ("QTYDL", "LFIMG", "QTYDLV"), "day2": ("DLVDT", "WADAT", "DATDLV"),
              "alt": ("CNFDT", "BSTDT", "DATCNF"), "bil": ("PRTDT", "DRKDT", "DATPRT")},
        "N": {"val": ("dlv_qty", "qty_dlv", "shp_qty"), "day2": ("dlv_dt", "arr_dt", "pod_dt"),
              "alt": ("cnf_dt", "conf_dt", "reprom_dt"), "bil": ("prt_dt", "print_dt", "note_dt")},
        "A": {"val": ("Quantity", "Shipped", "Units"),
              "day2": ("ArrivedOn", "HandedOver", "DateArrived"),
              "alt": ("ConfirmedFor", "Agreed", "DateConfirmed"),
              "bil": ("PrintedOn", "NoteDate", "DatePrinted")},
    },
    "cred": {"L": {}, "N": {"val": ("cr_amt", "amt_cr", "net_amt")},
             "A": {"val": ("Amount", "DocValue", "Total")}},
    "pay": {"L": {"val": ("PAYAM", "ZBETR", "AMTPAY")},
            "N": {"val": ("pmt_amt", "amt_pd", "paid_amt")},
            "A": {"val": ("Received", "AmountIn", "Paid")}},
}  # fmt: skip
_PLAN: Mapping[str, tuple[str, ...]] = {
    "Lsale": ("no", "typ", "cust", "day", "alt", "day2", "bil", "ent", "itm", "val", "ref", "del"),
    "Lctr": ("no", "typ", "cust", "day", "bil", "alt", "day2", "ent", "itm", "val", "del"),
    "Ldlv": ("no", "typ", "cust", "day", "alt", "day2", "bil", "ent", "itm", "val", "del"),
    "Lpay": ("no", "ref", "day", "ent", "val", "del"),
    "Nsale": ("no", "cust", "day", "alt", "day2", "bil", "ent", "itm", "val", "stat", "org", "del"),
    "Nctr": ("no", "cust", "day", "bil", "alt", "day2", "ent", "itm", "val", "stat", "org", "del"),
    "Ndlv": ("no", "cust", "day", "alt", "day2", "bil", "ent", "itm", "val", "stat", "org", "del"),
    "Ncred": ("no", "ref", "day", "ent", "val", "stat", "del"),
    "Npay": ("no", "ref", "day", "ent", "val", "del"),
    "Asale": ("no", "cust", "day", "alt", "day2", "bil", "ent", "itm", "ccy", "vat", "val", "ext",
              "stat"),
    "Actr": ("no", "cust", "day", "bil", "alt", "day2", "ent", "itm", "ccy", "val", "ext", "stat"),
    "Adlv": ("no", "cust", "day", "alt", "day2", "bil", "ent", "itm", "val", "ext", "stat"),
    "Acred": ("no", "ref", "day", "ent", "ccy", "vat", "val", "stat"),
    "Apay": ("no", "ref", "day", "ent", "val", "stat"),
}  # fmt: skip
FLOW_ROLES: Mapping[str, tuple[str, ...]] = {
    "sale": ("Lsale", "Nsale", "Asale", "Ncred", "Acred", "Lpay", "Npay", "Apay"),
    "ctr": ("Lctr", "Nctr", "Actr"), "dlv": ("Ldlv", "Ndlv", "Adlv"),
}  # fmt: skip
_SHARED: Mapping[str, tuple[_Spellings, Mapping[str, _Spellings]]] = {
    "cust": (("mdm_cust", "crm_bp_mst", "md_customer"), {
        "id": ("cust_id", "cst_id", "bp_id"), "name": ("cust_nm", "nm1", "bp_name"),
        "district": ("dist_cd", "area_cd", "dst"), "seg": ("seg_cd", "sgm", "cls_cd"),
        "into": ("mrg_into", "surv_id", "repl_by")}),
    "acct": (("Accounts", "PartyMaster", "tblAccount"), {
        "no": ("AccountRef", "PartyCode", "AcctNo"), "name": ("AccountName", "PartyName", "Title"),
        "town": ("Town", "Place", "City")}),
    "xref": (("mdm_xref", "int_key_map", "md_keymap"), {
        "sys": ("src_sys", "sys_cd", "src"), "key": ("src_key", "ext_key", "src_no"),
        "cust": ("cust_id", "mst_id", "bp_id")}),
    "map": (("org_dist_rgn", "md_area_hist", "geo_dst_asg"), {
        "district": ("dist_cd", "area_cd", "dst"), "region": ("rgn_cd", "reg", "rgn"),
        "first": ("vld_from", "eff_from", "from_dt"), "end": ("vld_to", "eff_to", "to_dt")}),
    "region": (("org_rgn", "md_region", "geo_rgn"), {
        "code": ("rgn_cd", "reg", "rgn"), "name": ("rgn_nm", "reg_name", "descr")}),
    "rate": (("fin_fx", "gl_xrate", "trs_ccy_rt"), {
        "kind": ("rt_typ", "xr_kind", "qt"), "ccy": ("ccy", "cur_cd", "iso"),
        "month": ("per", "ym", "mth"), "rate": ("rt", "xr", "val")}),
    "cal": (("fin_per", "gl_calendar", "cal_per"), {
        "year": ("fy", "yr", "per_yr"), "month": ("per_no", "pno", "mth_no"),
        "first": ("st_dt", "first_dy", "from_dt"), "end": ("nxt_dt", "next_first", "until_dt"),
        "closed": ("cls_dt", "closed_on", "lock_dt")}),
    "reg": (("gov_metric_reg", "cfg_kpi_rule", "dq_measure_book"), {
        "no": ("ent_no", "rule_no", "reg_no"), "metric": ("metric", "kpi", "measure"),
        "topic": ("topic", "aspect", "clause"), "text": ("ruling", "wording", "rule_txt"),
        "first": ("eff_from", "vld_from", "in_eff"), "by": ("sgn_by", "signed", "signee"),
        "on": ("sgn_dt", "signed_on", "sig_date")}),
    "sign": (("gov_signatory", "cfg_sign_right", "org_mandate"), {
        "who": ("sgn", "person", "initials"), "body": ("body", "dept", "unit"),
        "first": ("from_dt", "eff_from", "since"), "last": ("to_dt", "eff_to", "until")}),
    "conf": (("cfg_param", "sys_setting", "adm_const"), {
        "key": ("pkey", "set_cd", "const"), "value": ("pval", "set_val", "val"),
        "first": ("vld_from", "eff_from", "from_dt"), "last": ("vld_to", "eff_to", "to_dt")}),
    "excl": (("cfg_list_item", "sys_list_ent", "adm_set_member"), {
        "list": ("list_cd", "set_id", "lst"), "cust": ("item", "member", "elem"),
        "first": ("vld_from", "eff_from", "from_dt"), "last": ("vld_to", "eff_to", "to_dt")}),
    "corr": (("fin_corr_pos", "adj_line", "rst_item"), {
        "batch": ("bt_no", "batch", "run_no"), "no": ("doc_no", "vch_no", "target"),
        "val": ("new_val", "corr_val", "val_to"), "why": ("rsn", "reason", "note")}),
    "batch": (("fin_corr_bt", "adj_head", "rst_run"), {
        "no": ("bt_no", "batch", "run_no"), "state": ("st_cd", "phase", "state"),
        "on": ("st_dt", "as_of", "chg_on"), "flow": ("area", "scope", "dom")}),
    "vat": (("TaxRates", "VatTable", "tblTaxKey"), {
        "code": ("TaxKey", "VatKey", "TaxClass"), "first": ("FromDate", "ValidFrom", "StartsOn"),
        "end": ("ToDate", "ValidTo", "StopsOn"), "pct": ("Percent", "Pct", "RatePct")}),
    "look": (("sys_code", "cfg_lookup", "md_code_txt"), {
        "dom": ("dom", "cd_set", "fld"), "code": ("cd", "cd_val", "code"),
        "text": ("txt", "descr", "meaning")}),
}  # fmt: skip
FIELDS: Mapping[str, tuple[str, ...]] = {
    **_PLAN, **{role: tuple(fields) for role, (_, fields) in _SHARED.items()},
}  # fmt: skip
"""Fields of each role's table, in the order in which rows are drawn."""
VIEWS: Mapping[str, str] = {
    "sale": "v_net_sales_mth", "ctr": "v_active_fees", "dlv": "v_otd_mth",
}  # fmt: skip
"""Names of old views, by flow."""
_TABLES: Mapping[str, _Spellings] = {
    "Nsale": ("sls_inv_hd", "fin_ar_doc", "ord_bill_hd"),
    "Ncred": ("sls_crn_hd", "fin_ar_crn", "ord_cred_hd"),
    "Npay": ("fin_pmt_in", "trs_rcpt", "bnk_incoming"),
    "Nctr": ("svc_ctr_hd", "sub_agrm", "crm_contract_hd"),
    "Ndlv": ("log_dlv_hd", "shp_note", "wms_ship_hd"),
    "Asale": ("SalesVouchers", "tblInvoice", "Billing"),
    "Acred": ("CreditVouchers", "tblCredit", "BillingCredits"),
    "Apay": ("Receipts", "tblReceipt", "CashIn"),
    "Actr": ("Agreements", "tblContract", "Subscriptions"),
    "Adlv": ("Consignments", "tblDispatch", "Shipments"),
}  # fmt: skip
_PADDING: Mapping[str, _Spellings] = {
    "L": ("MANDT", "BUKRS", "WERKS", "USRNM", "CHGDT", "FLD01", "FLD02", "FLD03", "KOSTL", "PRCTR",
          "AMTGR", "AMTTX", "CURCD", "LANGU", "PRTCT", "STATX"),
    "N": ("co_cd", "plant_cd", "sls_org", "upd_by", "upd_dt", "cost_ctr", "prft_ctr", "pmt_trm",
          "lang_cd", "prt_cnt", "gr_amt", "tax_amt", "ccy_doc", "chnl_cd", "rsn_cd", "ext_id",
          "usr_fld1", "usr_fld2", "ver_no"),
    "A": ("Branch", "Clerk", "Ledger", "Till", "Terms", "Flag1", "Flag2", "Memo", "Printed",
          "DateValue", "Batch", "Sheet", "AmountBase", "Extra1", "Extra2"),
}  # fmt: skip
"""Columns that no question needs, by system."""
_FIRMS: Mapping[str, tuple[str, ...]] = {
    "train": ("Halden", "Orsted Mills", "Brenner", "Castell", "Ferrant", "Lundgaard", "Marchetti"),
    "dev": ("Thorsby", "Valdis", "Kestrel", "Arnholm"),
    "test": ("Norvik", "Perrault", "Stenmark", "Oakridge", "Zellweg", "Tarvos", "Quillon"),
    "heldout": ("Ravn", "Bellmore", "Sigurd", "Auberon", "Wexholt"),
}
_SYSTEMS = ("Orbit", "Cobra", "Delta/3", "Argus", "Monarch", "Pharos")
_SUCCESSORS = ("Meridian", "Northstar", "Helix", "Summit", "Keystone", "Prisma")
_ACQUIRED = ("Tally", "Abacus", "Rondo", "LedgerPro", "Quill", "Compas")
_BOUGHT = ("Brandt", "Lindqvist", "Moreau", "Oakley", "Petrov", "Sandoz", "Tamm", "Vogel")
_ROLE = re.compile(r"@(\w+)(?:\.(\w+))?")


@dataclass(frozen=True)
class EstateLayout:
    """The names of a company, its systems, tables and columns."""

    company: str
    group: str
    bought: str
    systems: Mapping[str, str]
    """Name of the system by letter."""
    tables: Mapping[str, str]
    columns: Mapping[str, Mapping[str, str]]
    padding: Mapping[str, tuple[str, ...]]
    """Further columns by role."""
    dead: Mapping[str, tuple[str, ...]]
    """Names of dead copies by role."""
    codes: Mapping[str, tuple[str, ...]]
    """Codes: document types of L that count (`Ltyp`), its credit notes (`Lcred`) and others
    (`Lbad`); states that count (`Nok`, `Aok`) and do not (`Nbad`, `Abad`)."""
    dotted: bool
    """Whether A writes dates as DD.MM.YYYY rather than as timestamps."""
    lists: tuple[str, str]
    """Names of the list of excluded customers, and of one that looks like it."""
    settings: tuple[str, str]
    """Keys of the tolerance and of the renewal period."""
    prefixes: Mapping[str, str]
    """Start of document numbers by system."""

    def __call__(self, sql: str) -> str:
        """Return a statement with the names of this company."""

        def named(match: re.Match[str]) -> str:
            role, field = match.groups()
            return self.columns[role][field] if field else self.tables[role]

        return _ROLE.sub(named, sql)


def type_of(role: str, field: str) -> str:
    """Return the SQL type of a column."""
    if field in ("val", "rate", "pct"):
        return "REAL"
    whole = (
        field in ("year", "value")
        or (role[0] == "L" and field in ("day", "day2", "alt", "bil", "ent"))
        or (role in ("cust", "cal") and field in ("id", "into", "month"))
        or ((role[0] == "N" or role == "xref") and field == "cust")
        or (role[0] == "A" and field == "stat")
    )
    return "INTEGER" if whole else "TEXT"


@lru_cache(maxsize=64)
def layout_of(company: str) -> EstateLayout:
    """Draw the names of a company, for example of `estate-test-3`."""
    draw = ValueDraw(generator_for("sql-estate-layout", company))
    style = {system: draw.below(3) for system in "LNAS"}
    tables: dict[str, str] = {}
    columns: dict[str, dict[str, str]] = {}
    padding: dict[str, tuple[str, ...]] = {}
    dead: dict[str, tuple[str, ...]] = {}
    numbers = draw.sample(range(110, 990), 8)
    module = {"Lsale": "AR", "Lctr": "VT", "Ldlv": "LF", "Lpay": "KB"}
    for role, fields in _PLAN.items():
        system, flow = role[0], role[1:]
        source = {"L": _OLD, "N": _NEW, "A": _ACQ}[system]
        own = _OWN[flow][system]
        columns[role] = {
            field: (own.get(field) or source[field])[style[system]] for field in fields
        }
        if system == "L":
            tables[role] = f"{module[role]}{numbers.pop()}0"
        else:
            tables[role] = _TABLES[role][style[system]]
        taken = {name.lower() for name in columns[role].values()}
        spare = [name for name in _PADDING[system] if name.lower() not in taken]
        padding[role] = tuple(sorted(draw.sample(spare, draw.between(8, len(spare) - 1))))
        dead[role] = _dead_copies(draw, system, tables, role)
    for role, (names, spelt) in _SHARED.items():
        pick = style["A"] if role in ("acct", "vat") else style["S"]
        tables[role] = names[pick]
        columns[role] = {field: options[pick] for field, options in spelt.items()}
    for role in ("cust", "map", "region", "rate", "conf", "excl", "corr"):
        dead[role] = (f"{tables[role]}_{draw.pick(('old', 'bak2', '2022', 'tmp'))}",)
    states = draw.sample(("10", "15", "20", "30", "35", "40", "50", "60", "90"), 5)
    own_states = draw.sample(("1", "2", "3", "4", "5", "6", "7", "8", "9"), 6)
    kinds = draw.pick((("RE", "RV", "GU", "PF", "SB"), ("I1", "I4", "C2", "P1", "T0"),
                       ("F", "B", "G", "A", "X")))  # fmt: skip
    exclusion = draw.pick(("REP", "FIG", "KPI"))
    split = split_of(company)
    return EstateLayout(
        company, draw.pick(_FIRMS[split]), draw.pick(_BOUGHT),
        {"L": draw.pick(_SYSTEMS), "N": draw.pick(_SUCCESSORS), "A": draw.pick(_ACQUIRED)},
        tables, columns, padding, dead,
        {
            "Ltyp": kinds[:2], "Lcred": kinds[2:3], "Lbad": kinds[3:],
            "Nok": tuple(states[:2]), "Nbad": tuple(states[2:]),
            "Aok": tuple(own_states[:2]), "Abad": tuple(own_states[2:5]),
            "Adel": tuple(own_states[5:6]),
        },
        draw.chance(0.5), (f"X{exclusion}", f"X{draw.pick(('DUN', 'MKT', 'CRD'))}"),
        draw.pick((("DLV_GRACE", "CTR_REOPEN"), ("OTD_DAYS", "RNW_WIN"), ("TOL07", "WIN12"))),
        {"L": "", "N": draw.pick(("ME-", "N-", "7-")), "A": draw.pick(("T/", "V/", "A."))},
    )  # fmt: skip


def _dead_copies(
    draw: ValueDraw, system: str, tables: dict[str, str], role: str
) -> tuple[str, ...]:
    """Name one or two dead copies; sometimes a dead table keeps the plain name."""
    name = tables[role]
    if system == "L":
        return (f"{name}{draw.pick(('S', 'X', 'B'))}",)
    if system == "A":
        return (f"{name}{draw.pick(('_Old', 'Archive', '_Copy', '2021'))}",)
    endings = draw.sample(("_old", "_bak2", "_snap", "_stg", "_2022"), 2)
    if draw.chance(0.5):
        tables[role] = f"{name}{draw.pick(('_p', '_v2', '2'))}"
        return name, f"{name}{endings[0]}"
    return tuple(f"{name}{ending}" for ending in endings[: draw.between(1, 2)])
