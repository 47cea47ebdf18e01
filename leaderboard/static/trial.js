// One trajectory, drawn from its record: #LINE or #LINE/PAGE.
"use strict";

const STEPS_PER_PAGE = 40;
const CHARACTERS_PER_PAGE = 400000;

function place() {
  const [line, page] = location.hash.slice(1).split("/").map(Number);
  return { line: line || 0, page: page || 1 };
}

function contentOf(value) {
  if (typeof value === "string") return block(value);
  return value.map((part) => {
    if (part.type === "text") return block(part.text);
    const name = /^[0-9a-f]{64}$/.test(part.sha256) ? part.sha256 : "missing";
    if (part.type === "image") {
      const size = `${Number(part.width)} × ${Number(part.height)} pixels`;
      return make("figure", { class: "image" }, make("img", {
        src: `../../media/${name}.png`, width: Number(part.width), height: Number(part.height),
        alt: `Image of ${size}, ${name.slice(0, 12)}`, loading: "lazy",
      }));
    }
    return make("p", { class: "file" },
      make("a", { href: `../../media/${name}.bin`, download: visible(part.name) }, bdi(part.name)), " ",
      make("span", { class: "note" }, bdi(part.media_type), `, ${Number(part.size)} bytes`));
  });
}

function textOf(content) {
  return typeof content === "string" ? content : content.map((part) => part.text || "").join("");
}

// Steps in pages, by number and by size; at least one page.
function pagesOf(steps) {
  const pages = [[]];
  let size = 0;
  for (const step of steps) {
    const own = Math.min(step.action.length, LONGEST) + Math.min(textOf(step.observation).length, LONGEST);
    const last = pages[pages.length - 1];
    if (last.length && (last.length >= STEPS_PER_PAGE || size + own > CHARACTERS_PER_PAGE)) {
      pages.push([]);
      size = 0;
    }
    pages[pages.length - 1].push(step);
    size += own;
  }
  return pages;
}

function stepOf(step, line, page, tokens) {
  const calls = callsOf(step.action);
  const shown = calls.map((call) => make("div", { class: "call" },
    make("p", { class: "tool" }, bdi(call.name)),
    argumentsOf(call).map(([name, value]) => [make("p", { class: "argument" }, bdi(name)), block(value)])));
  const number = Number(step.index);
  return make("article", { class: "step", id: `step-${number}` },
    make("p", { class: "number" }, make("a", { href: `#${line}/${page}` }, String(number + 1))),
    make("div", { class: "action" }, make("h3", null, "Action"), calls.length ? shown : block(step.action),
      calls.length ? make("details", null, make("summary", null, "as sent"), block(step.action)) : null),
    tokensOf(tokens),
    make("div", { class: "observation" }, make("h3", null, "Observation"), contentOf(step.observation)),
    step.reward || step.status !== "ongoing" ? make("p", { class: "after" },
      step.reward ? ["reward ", make("b", null, figure(step.reward)), " · "] : null, bdi(step.status)) : null);
}

// Tokens of a rollout: sampled ones shaded by probability, given ones plain.
function tokensOf(tokens) {
  if (!Array.isArray(tokens) || !tokens.length) return null;
  const drawn = tokens.map(([text, logprob, sampled]) => {
    const share = typeof logprob === "number" ? Math.exp(logprob) : null;
    const step = share === null ? "x" : Math.min(9, Math.max(0, Math.floor(10 * share)));
    const title = share === null ? "not sampled" : `log-probability ${logprob.toFixed(3)}, probability ${(100 * share).toFixed(1)} %`;
    return make("span", { class: sampled ? `token h${step}` : "token masked", title }, text);
  });
  return make("details", { class: "tokens" },
    make("summary", null, `${tokens.length} tokens, ${tokens.filter((one) => one[2]).length} sampled`),
    make("pre", { class: "text" }, drawn));
}

function row(name, ...value) {
  return make("tr", null, make("th", { scope: "row" }, name), make("td", null, value));
}

function usageRow([role, use]) {
  const cost = typeof use.cost === "number" ? `, $${figure(use.cost)}` : "";
  return row(["Tokens, ", bdi(role)], `${amount(use.input || 0)} in, ${amount(use.output || 0)} out${cost}`);
}

function verdictOf(record, entry) {
  const evidence = Object.keys(record.evidence).length > 0;
  return [
    make("h2", null, "Verdict"),
    make("p", { class: `verdict ${entry.outcome}` }, outcome(entry.outcome), record.cause ? [" ", bdi(record.cause)] : null),
    Object.keys(record.terms).length ? make("table", { class: "pairs terms" }, make("tbody", null,
      Object.entries(record.terms).map(([name, value]) => make("tr", null,
        make("th", { scope: "row" }, bdi(name)), make("td", { class: "num" }, figure(value)))))) : null,
    record.partial !== null ? make("p", { class: "note" }, `partial credit ${figure(record.partial)}`) : null,
    evidence ? make("details", { open: true }, make("summary", null, "Evidence"), block(pretty(record.evidence))) : null,
    record.judges.map((judged) => make("details", null, make("summary", null, "Judge"), block(pretty(judged)))),
    make("details", null, make("summary", null, "Final state"), block(pretty(record.final_state))),
  ];
}

function factsOf(record, entry) {
  return [make("h2", null, "Facts"), make("table", { class: "pairs" }, make("tbody", null,
    row("Environment", bdi(record.key.env), ", version ", bdi(record.env_version)),
    row("Template", bdi(record.template)),
    row("Level, split", bdi(record.level), ", ", bdi(record.split)),
    row("Sandbox", bdi(record.sandbox)),
    Object.entries(record.usage).map(usageRow),
    row("Time", duration(entry.seconds)),
    record.tool_errors ? row("Tool errors", String(record.tool_errors)) : null,
    record.cut_chars ? row("Characters cut", String(record.cut_chars)) : null,
    record.flags.length ? row("Flags", record.flags.map((flag) => [bdi(flag), " "])) : null,
    record.checks.map((check) => row("Check", bdi(check.name), " ", bdi(check.version))),
    record.earlier.map((one) => row(["Attempt ", bdi(one.attempt)], bdi(one.cause), ": ", bdi(one.message))),
    row("Task hash", short(record.task_hash)),
    row("State hash", short(record.final_state_hash)),
    row("Record", `line ${entry.line}, `, short(record.hash))))];
}

function heading(record, entry) {
  document.title = `${visible(record.key.task)} · ${document.title}`;
  document.querySelector("h1.task").replaceChildren(nameOf(record.key.task));
  document.querySelector(".facts").replaceChildren(
    outcome(entry.outcome),
    record.reward !== null ? make("span", null, "reward ", make("b", null, figure(record.reward))) : "",
    make("span", null, "ended: ", bdi(record.stop)),
    make("span", null, `${record.turns} turn${record.turns === 1 ? "" : "s"}`),
    make("span", null, `seed ${record.key.seed}, trial ${record.key.trial}`,
      record.attempt > 1 ? `, attempt ${record.attempt}` : ""));
}

function walk(rows, position) {
  const link = (rel, other, text) => other && make("a", { rel, href: `#${other.line}` }, text);
  const links = [link("prev", rows[position - 1], "← previous"), link("next", rows[position + 1], "next →")];
  document.querySelector(".walk").replaceChildren(...links.filter(Boolean));
}

function pagesNav(pages, line, page) {
  if (pages.length < 2) return null;
  return make("nav", { class: "pages", "aria-label": "Pages of this trajectory" }, pages.map((_, index) =>
    index + 1 === page ? make("b", { "aria-current": "page" }, String(index + 1))
      : make("a", { href: `#${line}/${index + 1}` }, String(index + 1))));
}

async function drawTrial(title) {
  const { rows, firsts, tokenParts } = await readIndex();
  const { line, page: asked } = place();
  const position = line ? rows.findIndex((entry) => entry.line === line) : 0;
  const story = document.querySelector(".story");
  document.title = title;
  if (position < 0) {
    story.replaceChildren(make("p", { class: "warning" }, `This submission has no record on line ${line}.`));
    return;
  }
  const entry = rows[position];
  const record = await readRecord(firsts, entry.line);
  const tokens = await readTokens(firsts, tokenParts, entry.line);
  const pages = pagesOf(record.steps);
  const page = Math.min(Math.max(1, asked), pages.length);
  heading(record, entry);
  walk(rows, position);
  const steps = pages[page - 1].map((step) => stepOf(step, entry.line, page, tokens[step.index]));
  story.replaceChildren(...[
    record.error ? make("div", { class: "fault" }, make("h3", null, "Error", record.cause ? [" · ", bdi(record.cause)] : null), block(record.error)) : null,
    page === 1 ? make("div", { class: "opening" }, make("h3", null, "Opening"), contentOf(record.opening)) : null,
    page === 1 ? playerOf(record.steps, record.key.task) : null,
    page === 1 ? sessionOf(record.steps) : null,
    ...(steps.length ? steps : [make("p", { class: "note" }, "No step was taken.")]),
    page === pages.length ? changesDrawn(record.final_state) : null,
    pagesNav(pages, entry.line, page),
  ].filter(Boolean));
  document.querySelector(".side").replaceChildren(...[verdictOf(record, entry), factsOf(record, entry)].flat(9).filter(Boolean));
  for (const text of document.querySelectorAll(".side pre.text")) text.tabIndex = 0; // they scroll
  document.querySelector(".trajectory").dataset.line = entry.line;
  if (history.scrollRestoration) window.scrollTo(0, 0);
}

if (document.querySelector(".trajectory")) {
  const title = document.title;
  const draw = () => drawTrial(title).catch((error) => {
    document.querySelector(".story").replaceChildren(make("p", { class: "warning" }, `The trajectory cannot be shown: ${error.message}`));
  });
  window.addEventListener("hashchange", draw);
  draw();
}
