// The list of a submission's trials, failures first, with filters and pages.
"use strict";

const TRIALS_PER_PAGE = 200;
const FILTERS = ["outcome", "env", "level", "template", "stop"];

function listTrials(rows) {
  const form = document.querySelector(".filters");
  const table = document.querySelector(".trials");
  const pages = document.querySelector(".pages");
  const count = form.querySelector(".count");
  let page = 0;

  for (const name of FILTERS) {
    const found = Array.from(new Set(rows.map((row) => row[name])));
    if (name !== "outcome") found.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    form.elements[name].append(new Option("all", ""));
    if (name === "outcome") form.elements[name].append(new Option("all but passed", "-"));
    for (const value of found) form.elements[name].append(new Option(value, `=${value}`));
    form.elements[name].closest("label").hidden = found.length < 2 && name === "env";
  }

  function matches(row) {
    for (const name of FILTERS) {
      const wanted = form.elements[name].value;
      if (wanted === "-" ? row[name] === "passed" : wanted !== "" && `=${row[name]}` !== wanted) return false;
    }
    const text = form.elements.task.value.toLowerCase();
    return text === "" || row.task.toLowerCase().includes(text);
  }

  function rowOf(row) {
    const cell = (label, content, number) => make("td", { "data-label": label, class: number ? "num" : null }, content);
    return make("tr", null,
      cell("Outcome", outcome(row.outcome)),
      cell("Task", make("a", { href: `trial.html#${row.line}` }, nameOf(row.task))),
      cell("Seed", String(row.seed), true),
      cell("Trial", String(row.trial), true),
      cell("Reward", row.reward === null ? "–" : row.reward.toFixed(2), true),
      cell("Ended by", bdi(row.stop)),
      cell("Turns", String(row.turns), true),
      cell("Tokens", amount(row.tokens), true),
      cell("Time", duration(row.seconds), true));
  }

  function show() {
    const found = rows.filter(matches);
    const last = Math.max(0, Math.ceil(found.length / TRIALS_PER_PAGE) - 1);
    page = Math.min(page, last);
    count.textContent = `${found.length} of ${rows.length} trials`;
    const shown = found.slice(page * TRIALS_PER_PAGE, (page + 1) * TRIALS_PER_PAGE);
    table.tBodies[0].replaceWith(make("tbody", null, shown.map(rowOf)));
    pages.replaceChildren(...Array.from({ length: last ? last + 1 : 0 }, (_, number) => {
      const button = make("button", { type: "button", "aria-current": number === page ? "page" : null }, String(number + 1));
      button.addEventListener("click", () => { page = number; show(); table.scrollIntoView(); });
      return button;
    }));
  }

  const outcomes = Array.from(new Set(rows.map((row) => row.outcome)));
  document.getElementById("counts").replaceChildren(...outcomes.map((name) =>
    make("span", null, outcome(name), ` ${rows.filter((row) => row.outcome === name).length}`)));
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { page = 0; show(); });
  show();
}

readIndex().then(({ rows }) => listTrials(rows)).catch((error) => {
  document.querySelector(".trials").before(make("p", { class: "warning" }, `The list of trials cannot be shown: ${error.message}`));
});
