// Display of foreign texts and figures; the counterpart of text.py and macros.html.
"use strict";

const LONGEST = 200000;
const CONTROLS = ("NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI " +
  "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US").split(" ");
const COLOUR = /(?:\x1b\[|\x9b)[0-9;:]*m/gu;
const SEQUENCE = new RegExp("(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]" +
  "|\\x1b\\][^\\x07\\x1b]{0,4096}(?:\\x07|\\x1b\\\\)|\\x1b[PX^_][^\\x1b]{0,4096}\\x1b\\\\", "gu");
const SUSPECT = new RegExp("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff" +
  "\\ud800-\\udfff\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]", "gu");

// A text with its invisible characters made visible.
function visible(value) {
  const text = String(value).replaceAll("\r\n", "\n");
  if (text.search(SUSPECT) < 0) return text;
  return text.replace(COLOUR, "").replace(SEQUENCE, "\u27e8ESC\u27e9").replace(SUSPECT, (found) => {
    const code = found.codePointAt(0);
    const name = code < CONTROLS.length ? CONTROLS[code] : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    return `\u27e8${name}\u27e9`;
  });
}

// An element; texts among its children are made visible, attributes come from this site alone.
function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : visible(child))));
  return made;
}

const bdi = (text) => make("bdi", null, text);
// A name that may break after its slashes and underscores.
const nameOf = (text) => make("bdi", null, String(text).split(/(?<=[/_])/u).map((part, place) => [place ? make("wbr") : null, part]));
const outcome = (name) => make("span", { class: `outcome ${/^[a-z]+$/.test(name) ? name : ""}` }, name);
const short = (digest) => make("code", { class: "hash", title: visible(digest) }, String(digest).slice(0, 8));

function shorten(text) {
  if (text.length <= LONGEST) return [text, 0];
  const half = LONGEST / 2;
  return [`${text.slice(0, half)}\n\u22ef\n${text.slice(-half)}`, text.length - 2 * half];
}

// A text in full, with its line ends; very long ones keep both ends.
function block(value) {
  const [body, cut] = shorten(String(value));
  const long = body.length > 2400;
  const made = [make("pre", { class: long ? "text long" : "text", dir: "auto", tabindex: long ? 0 : null }, body)];
  if (cut) made.push(make("p", { class: "note" }, `${cut} characters are left out here; the record holds all.`));
  return made;
}

const pretty = (value) => JSON.stringify(value, null, 2);

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds >= 100) return `${seconds.toFixed(0)} s`;
  return seconds >= 1 ? `${seconds.toFixed(1)} s` : `${(1000 * seconds).toFixed(0)} ms`;
}

function amount(count) {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)}M`;
  if (count >= 1e4) return `${(count / 1e3).toFixed(0)}k`;
  return count >= 1e3 ? `${(count / 1e3).toFixed(1)}k` : String(count);
}

const figure = (value) => String(Number(Number(value).toPrecision(3)));

// Tool calls of an action in its canonical form; empty for prose.
function callsOf(action) {
  if (!/^\s*[{[]/.test(action)) return [];
  let value;
  try { value = JSON.parse(action); } catch { return []; }
  const calls = Array.isArray(value) ? value : [value];
  const sound = calls.every((call) => call && typeof call === "object" && typeof call.name === "string");
  return sound ? calls : [];
}

function argumentsOf(call) {
  const given = call.arguments === undefined ? {} : call.arguments;
  const named = given && typeof given === "object" && !Array.isArray(given) ? given : { arguments: given };
  return Object.entries(named).map(([name, value]) => [name, typeof value === "string" ? value : pretty(value)]);
}
