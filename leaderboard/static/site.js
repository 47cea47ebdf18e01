// Sorting and filtering for tables that are whole without it. Texts enter the page as text only.
"use strict";

const FIRST_ROWS = 40;

function valueOf(row, column) {
  const cell = row.cells[column];
  const raw = "value" in cell.dataset ? cell.dataset.value : cell.textContent.trim();
  if (raw === "" || raw === "–") return null;
  const number = Number(raw);
  return Number.isNaN(number) ? raw.toLowerCase() : number;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortTable(table, column, ascending) {
  const heads = table.tHead.rows[0].cells;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
  for (const body of table.tBodies) {
    if (body.classList.contains("fixed")) continue;
    const rows = Array.from(body.rows, (row, index) => [valueOf(row, column), index, row]);
    rows.sort(([a, i], [b, j]) => {
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return (ascending ? compare(a, b) : compare(b, a)) || i - j;
    });
    body.append(...rows.map((entry) => entry[2]));
  }
  table.classList.add("sorted");
  table.dispatchEvent(new Event("sorted"));
}

function firstDirection(head) {
  return head.dataset.first === "ascending" || !(head.classList.contains("num") || head.classList.contains("tall"));
}

function makeSortable(table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    if ("nosort" in head.dataset) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      sortTable(table, column, now ? now === "descending" : firstDirection(head));
    });
  });
  if (table.classList.contains("ranking")) addSorter(table, heads);
  if (!document.querySelector(`form[data-table="${table.id}"]`)) collapse(table);
}

// A long table begins with its first rows; without scripts and on paper it is whole.
function collapse(table) {
  const rows = Array.from(table.tBodies, (body) => Array.from(body.rows)).flat();
  const linked = location.hash && document.getElementById(location.hash.slice(1));
  if (rows.length <= FIRST_ROWS || (linked && table.contains(linked))) return;
  const more = document.createElement("button");
  more.type = "button";
  more.className = "more";
  more.textContent = `Show all ${rows.length} rows`;
  (table.closest(".scroll") || table).after(more);
  const show = (most) => {
    let place = 0;
    for (const body of table.tBodies) for (const row of body.rows) row.hidden = place++ >= most;
  };
  const first = () => show(FIRST_ROWS);
  table.addEventListener("sorted", first);
  more.addEventListener("click", () => { table.removeEventListener("sorted", first); show(Infinity); more.remove(); });
  first();
}

function addSorter(table, heads) {
  const label = document.createElement("label");
  label.className = "sorter";
  const select = document.createElement("select");
  heads.forEach((head, column) => {
    if (!("nosort" in head.dataset)) select.append(new Option(head.textContent.trim(), column));
  });
  label.append("Sort by ", select);
  table.parentElement.before(label);
  select.addEventListener("change", () => {
    const column = Number(select.value);
    sortTable(table, column, firstDirection(heads[column]));
  });
}

// Filters over a table that is whole without them; their choices come from its rows.
function filterTable(form) {
  const table = document.getElementById(form.dataset.table);
  const rows = Array.from(table.tBodies, (body) => Array.from(body.rows)).flat();
  const count = form.querySelector(".count");
  for (const select of form.querySelectorAll("select")) {
    const values = Array.from(new Set(rows.map((row) => row.dataset[select.name] || ""))).filter(Boolean);
    select.append(new Option("all", ""), ...values.sort(compare).map((value) => new Option(value, value)));
    select.closest("label").hidden = values.length < 2;
  }
  // Long tables begin with their first rows, and show all as soon as anything is chosen.
  const more = document.createElement("button");
  more.type = "button";
  more.className = "more";
  let limit = rows.length > FIRST_ROWS ? FIRST_ROWS : rows.length;
  more.addEventListener("click", () => { limit = rows.length; show(); });
  if (limit < rows.length) table.parentElement.after(more);

  function show() {
    const chosen = Array.from(form.elements).some((field) => field.name && field.value !== "");
    const most = chosen ? rows.length : limit;
    const order = Array.from(table.tBodies, (body) => Array.from(body.rows)).flat();
    const text = form.elements.text.value.toLowerCase();
    const since = form.elements.since.value;
    let found = 0;
    for (const row of order) {
      const fits = Array.from(form.querySelectorAll("select"), (select) =>
        select.value === "" || row.dataset[select.name] === select.value).every(Boolean);
      const dated = since === "" || (row.dataset.date || "") >= since;
      const kept = fits && dated && row.cells[0].textContent.toLowerCase().includes(text);
      found += kept ? 1 : 0;
      row.hidden = !kept || found > most;
    }
    count.textContent = `${found} of ${rows.length} systems`;
    more.textContent = `Show all ${rows.length}`;
    more.hidden = found <= most;
  }
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", show);
  table.addEventListener("sorted", show);
  show();
}

function walkByKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== document.body) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const link = rel && document.querySelector(`.walk a[rel="${rel}"]`);
    if (link) link.click();
  });
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
document.querySelectorAll("form.filters[data-table]").forEach(filterTable);
if (document.querySelector(".walk")) walkByKeys();
