// Recording of a terminal trial: asciicast v2 as `hexathlon export --format asciicast` writes it, and a player.
"use strict";

const CLEAR = "\x1b[2J\x1b[H";
const TYPED_MS = 600;
const LONGEST_MS = 3000;

// Text as a terminal needs it; control characters of a foreign record are spelled out.
function forTerminal(text) {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (found) => `<${found.codePointAt(0).toString(16).padStart(2, "0")}>`)
    .replaceAll("\n", "\r\n");
}

// First calls of the steps, with their outputs.
function calledIn(steps) {
  return steps.map((step) => [callsOf(step.action)[0], textOf(step.observation)]).filter(([call]) => call)
    .map(([call, output]) => ({ name: call.name, given: isObject(call.arguments) ? call.arguments : {}, output }));
}

function castOf(steps, title) {
  const called = calledIn(steps);
  if (!called.some((one) => one.name === "run" || one.name === "send_keys")) return null;
  const most = (name, least) => Math.max(least, ...called.map((one) =>
    Number.isInteger(one.given[name]) && one.given[name] > 0 && one.given[name] <= 1000 ? one.given[name] : 0));
  const events = [];
  let now = 0;
  let onScreen = false;
  for (const { name, given, output } of called) {
    let shown;
    if (name === "send_keys") {
      now += TYPED_MS;
      shown = CLEAR + forTerminal(output.replace(/\n?\[cursor in row \d+, column \d+\]$/, ""));
    } else {
      const path = given.path === undefined || given.path === null ? "" : ` ${given.path}`;
      const typed = name === "run" ? String(given.command === undefined ? "" : given.command) : `# ${name}${path}`;
      events.push([now / 1000, "o", `${onScreen ? CLEAR : ""}$ ${forTerminal(typed)}\r\n`]);
      now += TYPED_MS;
      shown = name === "run" ? forTerminal(output) : "";
      if (shown && !shown.endsWith("\r\n")) shown += "\r\n";
    }
    onScreen = name === "send_keys";
    if (shown) events.push([now / 1000, "o", shown]);
    now += Math.min(LONGEST_MS, TYPED_MS + 100 * (shown.split("\n").length - 1));
  }
  return { header: { version: 2, width: most("columns", 80), height: most("rows", 24), title }, events };
}

// What the screen shows after each event: its last rows.
function framesOf({ header, events }) {
  let lines = [""];
  return events.map(([, , data]) => {
    const cleared = data.lastIndexOf(CLEAR);
    if (cleared >= 0) lines = [""];
    const [first, ...rest] = data.slice(cleared < 0 ? 0 : cleared + CLEAR.length).split("\r\n");
    lines[lines.length - 1] += first;
    lines.push(...rest);
    const wrapped = lines.slice(-header.height - 1).flatMap((line) => {
      const points = Array.from(line);
      return Array.from({ length: Math.max(1, Math.ceil(points.length / header.width)) },
        (_, part) => points.slice(part * header.width, (part + 1) * header.width).join(""));
    });
    lines = lines.slice(-header.height - 1);
    return wrapped.slice(-header.height).join("\n");
  });
}

function playerOf(steps, title) {
  const cast = castOf(steps, title);
  if (!cast) return null;
  const frames = framesOf(cast);
  const times = cast.events.map(([time]) => time);
  const screen = make("pre", { class: "cast", tabindex: 0, "aria-label": "Screen" });
  screen.style.setProperty("--rows", cast.header.height);
  const place = make("input", { type: "range", min: 0, max: frames.length - 1, value: 0, "aria-label": "Position" });
  const toggle = make("button", { type: "button" }, "Play");
  const count = make("span", { class: "note" });
  let timer = null;
  const show = () => {
    screen.replaceChildren(visible(frames[Number(place.value)]));
    count.replaceChildren(`${Number(place.value) + 1} of ${frames.length}`);
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    toggle.textContent = "Play";
  };
  const next = () => {
    const now = Number(place.value);
    if (now + 1 >= frames.length || !screen.isConnected) return stop();
    timer = setTimeout(() => { place.value = now + 1; show(); next(); }, 1000 * (times[now + 1] - times[now]));
  };
  toggle.addEventListener("click", () => {
    if (timer !== null) return stop();
    if (Number(place.value) + 1 >= frames.length) place.value = 0;
    show();
    toggle.textContent = "Pause";
    next();
  });
  place.addEventListener("input", () => { stop(); show(); });
  const lines = [cast.header, ...cast.events].map((row) => JSON.stringify(row));
  const save = make("button", { type: "button" }, "Save as .cast");
  save.addEventListener("click", () => {
    const file = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "application/x-asciicast" }));
    make("a", { href: file, download: "trial.cast" }).click();
    setTimeout(() => URL.revokeObjectURL(file), 10000);
  });
  show();
  return make("details", { class: "session" },
    make("summary", null, `Recording, ${frames.length} screens`),
    make("p", { class: "player" }, toggle, place, count, save), screen);
}
