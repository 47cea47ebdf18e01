// Sorting and filtering for tables that are whole without it. Texts enter the page as text only.
"use strict";

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

function option(select, name, value) {
  select.append(new Option(name, value));
}

function cell(row, label, text, number) {
  const made = row.insertCell();
  made.dataset.label = label;
  if (number) made.className = "num";
  if (text instanceof Node) made.append(text);
  else made.textContent = text;
  return made;
}

function isolated(text) {
  const made = document.createElement("bdi");
  made.textContent = text;
  return made;
}

function time(seconds) {
  if (seconds === null) return "–";
  if (seconds >= 100) return `${seconds.toFixed(0)} s`;
  return seconds >= 1 ? `${seconds.toFixed(1)} s` : `${(1000 * seconds).toFixed(0)} ms`;
}

function amount(count) {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)}M`;
  if (count >= 1e4) return `${(count / 1e3).toFixed(0)}k`;
  return count >= 1e3 ? `${(count / 1e3).toFixed(1)}k` : String(count);
}

function trialPage(line) {
  const number = String(line).padStart(6, "0");
  return `t/${String(Math.floor(line / 1000)).padStart(3, "0")}/${number}.html`;
}

function filterTrials(holder) {
  const { words, rows, size } = JSON.parse(holder.textContent);
  const form = document.querySelector(".filters");
  const table = document.querySelector(".trials");
  const pages = document.querySelector(".pages");
  const count = form.querySelector(".count");
  const columns = { outcome: 1, level: 3, template: 4, stop: 5 };
  let page = 0;

  for (const [name, column] of Object.entries(columns)) {
    const found = Array.from(new Set(rows.map((row) => row[column])));
    if (name !== "outcome") found.sort((a, b) => compare(words[a], words[b]));
    option(form.elements[name], "all", "");
    if (name === "outcome") option(form.elements[name], "all but passed", "-");
    for (const word of found) option(form.elements[name], words[word], String(word));
  }
  const passed = words.indexOf("passed");

  function chosen() {
    const text = form.elements.task.value.toLowerCase();
    return rows.filter((row) => {
      for (const [name, column] of Object.entries(columns)) {
        const wanted = form.elements[name].value;
        if (wanted === "-" ? row[column] === passed : wanted !== "" && row[column] !== Number(wanted)) return false;
      }
      return text === "" || words[row[2]].toLowerCase().includes(text);
    });
  }

  function show() {
    const found = chosen();
    const last = Math.max(0, Math.ceil(found.length / size) - 1);
    page = Math.min(page, last);
    count.textContent = `${found.length} of ${rows.length} trials`;
    const body = document.createElement("tbody");
    for (const row of found.slice(page * size, (page + 1) * size)) {
      const [line, outcome, task, , , stop, seed, trial, reward, turns, tokens, seconds] = row;
      const made = body.insertRow();
      const mark = document.createElement("span");
      mark.className = `outcome ${words[outcome]}`;
      mark.textContent = words[outcome];
      const link = document.createElement("a");
      link.href = trialPage(line);
      link.append(isolated(words[task]));
      cell(made, "Outcome", mark);
      cell(made, "Task", link);
      cell(made, "Seed", seed, true);
      cell(made, "Trial", trial, true);
      cell(made, "Reward", reward === null ? "–" : reward.toFixed(2), true);
      cell(made, "Ended by", isolated(words[stop]));
      cell(made, "Turns", turns, true);
      cell(made, "Tokens", amount(tokens), true);
      cell(made, "Time", time(seconds), true);
    }
    table.tBodies[0].replaceWith(body);
    pages.replaceChildren(...Array.from({ length: last ? last + 1 : 0 }, (_, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = number + 1;
      if (number === page) button.setAttribute("aria-current", "page");
      button.addEventListener("click", () => { page = number; show(); table.scrollIntoView(); });
      return button;
    }));
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { page = 0; show(); });
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
const holder = document.getElementById("index");
if (holder) filterTrials(holder);
if (document.querySelector(".walk")) walkByKeys();
