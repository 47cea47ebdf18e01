// Unpacks the data files of a submission: classic scripts, so that they load from a local folder,
// that contain compressed JSON and nothing else. Foreign texts enter the page as text only.
"use strict";

const pack = (() => {
  const waiting = new Map();
  const loaded = new Map();
  const own = /^(?:runs\/[a-z0-9-]+\/)?data\/[a-z0-9-]+\.js$/;
  const check = (url) => {
    if (!own.test(url)) throw new TypeError(`not a data file of this site: ${url}`);
    return url;
  };
  const rules = window.trustedTypes
    ? window.trustedTypes.createPolicy("hexathlon", { createScriptURL: check })
    : { createScriptURL: check };

  async function inflate(base64) {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return unfold(await new Response(stream).text());
  }

  // Repeated lines of a chunk are references: the distance in lines, and their number.
  function unfold(text) {
    if (text[0] !== "\u0002") return text;
    const lines = [];
    for (const part of text.slice(1).split("\\n")) {
      if (part[0] === "\u0001") {
        const [shift, number] = part.slice(1).split(",").map(Number);
        for (let left = number; left > 0; left -= 1) lines.push(lines[lines.length - shift]);
      } else {
        lines.push(part);
      }
    }
    return lines.join("\\n");
  }

  // Called by the data files.
  window.hexathlon = (name, base64) => {
    const url = document.currentScript.getAttribute("src");
    const entry = waiting.get(url);
    if (entry && url.endsWith(`data/${name}.js`)) inflate(base64).then(entry.resolve, entry.reject);
  };

  function load(url) {
    if (!loaded.has(url)) {
      loaded.set(url, new Promise((resolve, reject) => {
        waiting.set(url, { resolve, reject });
        const script = document.createElement("script");
        script.src = rules.createScriptURL(url);
        script.addEventListener("error", () => reject(new Error(`${url} cannot be read`)));
        document.head.append(script);
      }));
    }
    return loaded.get(url);
  }

  return {
    text: load,
    json: async (url) => JSON.parse(await load(url)),
    records: async (url) => (await load(url)).split("\n").slice(0, -1),
  };
})();

// Lines of the index, failures first, from its columns.
async function readIndex(folder = "") {
  const index = await pack.json(`${folder}data/index.js`);
  const word = (name) => index[name].map((place) => index.words[place]);
  const columns = { ...index, outcome: word("outcome"), task: word("task"), level: word("level"),
    template: word("template"), stop: word("stop"), env: word("env") };
  const rows = index.line.map((line, place) => ({
    line, outcome: columns.outcome[place], task: columns.task[place], level: columns.level[place],
    template: columns.template[place], stop: columns.stop[place], env: columns.env[place],
    seed: index.seed[place], trial: index.trial[place], reward: index.reward[place],
    turns: index.turns[place], tokens: index.tokens[place], seconds: index.seconds[place],
  }));
  return { rows, firsts: index.firsts, tokenParts: index.tokens_of };
}

// The record on a line of the submission's record file.
async function readRecord(firsts, line, folder = "") {
  const part = partOf(firsts, line);
  const lines = await pack.records(`${folder}data/${partName(part)}.js`);
  return JSON.parse(lines[line - firsts[part]]);
}

function partOf(firsts, line) {
  let part = firsts.length - 1;
  while (part > 0 && firsts[part] > line) part -= 1;
  return part;
}

function partName(part, kind = "records") {
  return `${kind}-${String(part).padStart(4, "0")}`;
}

// Tokens of a trial by turn, if the run kept them.
async function readTokens(firsts, parts, line) {
  const part = partOf(firsts, line);
  if (!parts.includes(part)) return {};
  return (await pack.json(`data/${partName(part, "tokens")}.js`))[line] || {};
}
