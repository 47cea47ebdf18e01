// Two systems on shared tasks: #FIRST/SECOND/EVENT/TASK, each part a name of this site.
"use strict";

const TASKS_PER_PAGE = 100;

function standardError(rows) {
  const mean = rows.reduce((sum, row) => sum + row.difference, 0) / rows.length;
  const sums = new Map();
  for (const row of rows) {
    const template = row.task.split("/")[1] || row.task;
    sums.set(template, (sums.get(template) || 0) + row.difference - mean);
  }
  const units = sums.size > 1 ? Array.from(sums.values()) : rows.map((row) => row.difference - mean);
  const count = units.length;
  if (count < 2) return [mean, null];
  const squares = units.reduce((sum, unit) => sum + unit * unit, 0);
  return [mean, Math.sqrt(count / (count - 1) * squares) / rows.length];
}

const points = (share) => `${share < 0 ? "−" : ""}${(100 * Math.abs(share)).toFixed(1)}`;

async function trialsOf(system, task) {
  const { rows } = await readIndex(`runs/${system.slug}/`);
  const found = rows.filter((row) => row.task === task);
  return make("div", { class: "trials-of" }, make("h3", null, bdi(system.name)),
    make("ul", null, found.map((row) => make("li", null,
      make("a", { href: `runs/${system.slug}/trial.html#${row.line}` }, `seed ${row.seed}, trial ${row.trial}`),
      " ", outcome(row.outcome), ` ${row.turns} turns, `, bdi(row.stop)))));
}

async function start() {
  const systems = await pack.json("data/systems.js");
  const form = document.querySelector(".pickers");
  const table = document.querySelector("table.tasks");
  const pages = document.querySelector(".pages");
  const fields = form.elements;
  let page = 0;
  let task = "";

  for (const name of ["a", "b"]) {
    fields[name].append(...systems.map((one) => new Option(visible(one.team ? `${one.name}, ${one.team}` : one.name), one.slug)));
  }
  const [first, second, event, wanted] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const known = (slug) => systems.some((one) => one.slug === slug);
  fields.a.value = known(first) ? first : systems[0].slug;
  fields.b.value = known(second) ? second : (systems[1] || systems[0]).slug;
  task = wanted || "";

  const system = (name) => systems.find((one) => one.slug === fields[name].value);

  function events() {
    const shared = system("a").envs.filter((env) => system("b").envs.includes(env));
    const before = fields.env.value || event;
    fields.env.replaceChildren(...shared.map((env) => {
      const [id, version] = env.split(" ");
      return new Option(visible(`${id.split("/").pop()}, version ${version}`), env);
    }));
    if (shared.includes(before)) fields.env.value = before;
    return shared.length > 0;
  }

  async function shared() {
    const [one, other] = await Promise.all(["a", "b"].map((name) => pack.json(`runs/${system(name).slug}/data/tasks.js`)));
    const mine = one[fields.env.value] || {};
    const theirs = other[fields.env.value] || {};
    return Object.keys(mine).filter((name) => Object.hasOwn(theirs, name)).map((name) => {
      const a = mine[name][0] / mine[name][1];
      const b = theirs[name][0] / theirs[name][1];
      return { task: name, a, b, difference: a - b };
    });
  }

  async function show() {
    const facts = document.querySelector(".compared");
    const rows = events() ? await shared() : [];
    if (!rows.length) {
      form.querySelector(".count").textContent = "no shared task";
      facts.replaceChildren();
      table.tBodies[0].replaceChildren();
      return;
    }
    const [mean, error] = standardError(rows);
    const fact = (name, value) => make("div", null, make("dt", null, name), make("dd", null, value));
    facts.replaceChildren(
      fact("First", `${points(rows.reduce((sum, row) => sum + row.a, 0) / rows.length)} %`),
      fact("Second", `${points(rows.reduce((sum, row) => sum + row.b, 0) / rows.length)} %`),
      fact("Difference, standard error", `${points(mean)} ± ${error === null ? "–" : points(error)}`),
      fact("Tasks won by either", `${rows.filter((row) => row.difference > 0).length} : ${rows.filter((row) => row.difference < 0).length} of ${rows.length}`));
    const text = fields.task.value.toLowerCase();
    const kept = rows.filter((row) => row.task.toLowerCase().includes(text) && ({
      "": true, differ: row.difference !== 0, a: row.difference > 0, b: row.difference < 0,
    })[fields.only.value]).sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference) || x.task.localeCompare(y.task));
    const last = Math.max(0, Math.ceil(kept.length / TASKS_PER_PAGE) - 1);
    page = Math.min(page, last);
    form.querySelector(".count").textContent = `${kept.length} of ${rows.length} shared tasks`;
    table.tBodies[0].replaceChildren(...kept.slice(page * TASKS_PER_PAGE, (page + 1) * TASKS_PER_PAGE).map((row) => {
      const button = make("button", { type: "button", class: "plain-button" }, nameOf(row.task));
      button.addEventListener("click", () => { task = row.task; pair(); });
      return make("tr", null, make("th", { scope: "row" }, button),
        ...[row.a, row.b, row.difference].map((value) => make("td", { class: "num" }, points(value))));
    }));
    pages.replaceChildren(...Array.from({ length: last ? last + 1 : 0 }, (_, number) => {
      const button = make("button", { type: "button", "aria-current": number === page ? "page" : null }, String(number + 1));
      button.addEventListener("click", () => { page = number; show(); });
      return button;
    }));
    await pair();
  }

  async function pair() {
    const place = document.querySelector(".task-pair");
    const parts = [fields.a.value, fields.b.value, fields.env.value, task].map(encodeURIComponent);
    history.replaceState(null, "", `#${parts.join("/")}`);
    if (!task) { place.replaceChildren(); return; }
    const both = await Promise.all(["a", "b"].map((name) => trialsOf(system(name), task)));
    place.replaceChildren(make("h2", null, bdi(task)), make("div", { class: "columns" }, both));
  }

  form.hidden = false;
  form.addEventListener("submit", (one) => one.preventDefault());
  form.addEventListener("input", (one) => { page = 0; if (one.target.name !== "only" && one.target.name !== "task") task = ""; show(); });
  await show();
}

start().catch((error) => {
  document.querySelector("table.tasks").before(make("p", { class: "warning" }, `The comparison cannot be shown: ${error.message}`));
});
