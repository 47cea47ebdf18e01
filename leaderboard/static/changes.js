// What a trial changed in its world, and its terminal session; both from its record alone.
"use strict";

const MOST_CHANGES = 200;
const KINDS = ["added", "changed", "removed"];

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// [place, kind, value] of each change; null if the final state lists none of any kind.
function changesOf(state) {
  const found = [];
  const walk = (place, value, depth) => {
    if (!isObject(value)) {
      found.push([place, "", value]);
    } else if (KINDS.some((kind) => Array.isArray(value[kind]))) {
      for (const kind of KINDS) for (const row of Array.isArray(value[kind]) ? value[kind] : []) found.push([place, kind, row]);
    } else if (depth < 4) {
      for (const [name, inner] of Object.entries(value)) walk(place ? `${place}.${name}` : name, inner, depth + 1);
    } else {
      found.push([place, "", value]);
    }
  };
  const files = Array.isArray(state.steps) ? state.steps.filter((step) => isObject(step) && isObject(step.changed)) : [];
  if (isObject(state.changes)) walk("", state.changes, 0);
  else if (files.length) for (const step of files) for (const [path, mark] of Object.entries(step.changed)) found.push([path, "file, mode and hash", mark]);
  else return null;
  return found;
}

const written = (value) => (typeof value === "string" && value ? value : JSON.stringify(value));

// The fields of a row, or those in which the two forms of a row differ.
function fieldsOf(value) {
  const pair = Array.isArray(value) && value.length === 2 && value.every(isObject);
  if (!pair && !isObject(value)) return written(value);
  const line = (name, ...text) => make("div", null, make("span", { class: "argument" }, bdi(name), " "), text);
  if (!pair) return Object.entries(value).map(([name, item]) => line(name, bdi(written(item))));
  const [before, after] = value;
  const names = Array.from(new Set([...Object.keys(before), ...Object.keys(after)]));
  const differ = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return [
    ...differ.map((name) => line(name, bdi(written(before[name]) ?? "–"), " → ", bdi(written(after[name]) ?? "–"))),
    make("details", null, make("summary", null, "whole row"), block(pretty(after))),
  ];
}

function changesDrawn(state) {
  const changes = isObject(state) ? changesOf(state) : null;
  if (!changes) return null;
  const rows = changes.slice(0, MOST_CHANGES).map(([place, kind, value]) => make("tr", null,
    make("th", { scope: "row" }, nameOf(place)), make("td", { "data-label": "Change" }, kind), make("td", { "data-label": "Fields" }, fieldsOf(value))));
  const table = make("table", { class: "plain stacked" }, make("thead", null, make("tr", null,
    ...["Place", "Change", "Fields"].map((name) => make("th", { scope: "col" }, name)))), make("tbody", null, rows));
  return make("section", { class: "changes" }, make("h3", null, "State changes"),
    rows.length ? table : make("p", { class: "note" }, "Nothing was changed."),
    changes.length > rows.length ? make("p", { class: "note" }, `The record lists ${changes.length} changes.`) : null);
}

// Commands and their output in one piece, for trials that ran commands.
function sessionOf(steps) {
  const lines = [];
  for (const step of steps) {
    for (const call of callsOf(step.action)) {
      const command = call.name === "run" && isObject(call.arguments) ? call.arguments.command : null;
      if (typeof command === "string") lines.push(`$ ${command}\n${textOf(step.observation)}\n`);
    }
  }
  return lines.length ? make("details", { class: "session" },
    make("summary", null, `Terminal session, ${lines.length} command${lines.length === 1 ? "" : "s"}`), block(lines.join("\n"))) : null;
}
