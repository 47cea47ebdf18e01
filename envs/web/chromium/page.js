"use strict";
// Runs in a world of its own in every document: the page's scripts cannot see or change it.
// `observe` waits until the page is quiet and returns it; the other functions act on elements.
(() => {
  if (window.hx) return;
  const HOSTS = new Set(__HOSTS__);
  const NAMES = new Set(
    ("role href type name value placeholder title alt aria-label aria-labelledby aria-current aria-selected hidden id " +
      "for selected multiple contenteditable draggable data-drag data-drop data-open data-close data-toggle data-load " +
      "data-set data-optimistic data-depends readonly disabled open src target form action method formaction formmethod").split(" "),
  );
  const SKIPPED = new Set(["script", "style", "link", "meta", "noscript", "template", "head"]);
  const UNBOXED = new Set(["option", "optgroup", "br", "wbr", "area", "source", "track", "param", "col", "colgroup"]);
  const AS_WRITTEN = new Set(["checkbox", "radio", "hidden", "submit", "button", "reset", "image"]);
  const foreign = window.hxForeign;
  const keys = new WeakMap();
  let byKey = new Map();
  let next = 1;
  const state = { leaving: false, refused: [], violations: [] };

  const allowed = (url) => url.protocol === "http:" && HOSTS.has(url.host);
  if (window.navigation) {
    navigation.addEventListener("navigate", (event) => {
      if (event.destination.sameDocument || event.hashChange) return;
      const url = new URL(event.destination.url);
      if (allowed(url)) state.leaving = true;
      else {
        state.refused.push(url.href);
        if (event.cancelable) event.preventDefault();
      }
    });
    navigation.addEventListener("navigateerror", () => (state.leaving = false));
  }
  // Chromium asks for `download` links outside the page, without the episode's secret; as ordinary links they
  // are answered with a file all the same.
  window.addEventListener(
    "click",
    (event) => {
      for (const each of event.composedPath()) if (each.localName === "a") each.removeAttribute("download");
    },
    true,
  );
  document.addEventListener("securitypolicyviolation", (event) => state.violations.push(event.blockedURI));

  const frames = (doc) => [...doc.querySelectorAll("iframe")].filter((frame) => frame.contentDocument);
  const quiet = (view) => {
    const doc = view.document;
    if (doc.readyState !== "complete" || !doc.documentElement || doc.documentElement.hasAttribute("data-busy")) return false;
    if (view.hx && view.hx.state.leaving) return false;
    return frames(doc).every((frame) => quiet(frame.contentWindow));
  };
  const turn = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const settle = async (limit) => {
    const end = performance.now() + limit;
    await turn(0);
    await turn(0);
    while (!quiet(window)) {
      if (performance.now() > end) return false;
      await turn(1);
    }
    return true;
  };

  const keyOf = (element) => {
    let key = keys.get(element);
    if (key === undefined) keys.set(element, (key = next++));
    byKey.set(key, element);
    return key;
  };
  const shown = (element, tag) => {
    if (UNBOXED.has(tag) || element.checkVisibility({ visibilityProperty: true })) return true;
    const style = element.ownerDocument.defaultView.getComputedStyle(element);
    if (style.display === "contents") return true;
    // Content of a closed <details> is left to the reader of the tree.
    return style.display !== "none" && style.visibility === "visible";
  };
  const attributes = (element, tag, hidden) => {
    const found = {};
    for (const { name, value } of element.attributes) if (NAMES.has(name)) found[name] = value;
    if (tag === "input") {
      const type = element.type;
      if (type === "file") found.value = [...element.files].map((file) => file.name).join(", ");
      else if (!AS_WRITTEN.has(type)) found.value = element.value;
      if (element.checked) found.checked = "";
    } else if (tag === "textarea") found.value = element.value;
    else if (tag === "option") {
      if (element.selected) found.selected = "";
      else delete found.selected;
    } else if (tag === "iframe" && element.contentDocument) found.src = element.contentWindow.location.href;
    if (!hidden && !("hidden" in found) && tag !== "dialog" && !shown(element, tag)) found.hidden = "";
    return found;
  };
  const walk = (element, tag, hidden) => {
    const found = attributes(element, tag, hidden);
    const item = [keyOf(element), tag, found];
    hidden = hidden || "hidden" in found || (tag === "dialog" && !element.open);
    if (tag === "textarea") return item;
    if (tag === "iframe") {
      const body = element.contentDocument && element.contentDocument.body;
      if (body) item.push(walk(body, "body", hidden));
      return item;
    }
    if (element.shadowRoot) children(element.shadowRoot, item, hidden);
    children(element, item, hidden);
    if (foreign && !hidden) foreign.mark(element, tag, found, item);
    return item;
  };
  const children = (parent, item, hidden) => {
    for (let child = parent.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) item.push(child.data);
      else if (child.nodeType === 1) {
        const tag = child.localName;
        if (!SKIPPED.has(tag)) item.push(walk(child, tag, hidden));
      }
    }
  };
  const snapshot = () => {
    byKey = new Map();
    const refused = state.refused.splice(0);
    const violations = state.violations.splice(0);
    for (const frame of frames(document)) {
      const inner = frame.contentWindow.hx;
      if (inner) {
        refused.push(...inner.state.refused.splice(0));
        violations.push(...inner.state.violations.splice(0));
      }
    }
    const body = document.body ? walk(document.body, "body", false) : [0, "body", {}];
    return JSON.stringify([window.hx.document, location.href, document.title, refused, violations, body]);
  };

  const element = (key) => {
    const found = byKey.get(key);
    if (!found || !found.isConnected) throw new Error("gone");
    return found;
  };
  const deepest = (x, y) => {
    let doc = document;
    let found = doc.elementFromPoint(x, y);
    while (found) {
      if (found.localName === "iframe" && found.contentDocument) {
        const box = found.getBoundingClientRect();
        x -= box.left + found.clientLeft;
        y -= box.top + found.clientTop;
        const inner = found.contentDocument.elementFromPoint(x, y);
        if (!inner) return found;
        found = inner;
      } else if (found.shadowRoot) {
        const inner = found.shadowRoot.elementFromPoint(x, y);
        if (!inner || inner === found) return found;
        found = inner;
      } else return found;
    }
    return null;
  };
  // The part of an element's first box inside the window, in the window's coordinates.
  const area = (found, scroll = true) => {
    if (scroll) found.scrollIntoViewIfNeeded();
    const box = [...found.getClientRects()].find((each) => each.width > 0 && each.height > 0);
    if (!box) return null;
    let { left, top, right, bottom } = box;
    for (let view = found.ownerDocument.defaultView; ; view = view.parent) {
      left = Math.max(left, 0);
      top = Math.max(top, 0);
      right = Math.min(right, view.innerWidth);
      bottom = Math.min(bottom, view.innerHeight);
      if (view === window || right <= left || bottom <= top) break;
      const frame = view.frameElement;
      const around = frame.getBoundingClientRect();
      const x = around.left + frame.clientLeft;
      const y = around.top + frame.clientTop;
      [left, right, top, bottom] = [left + x, right + x, top + y, bottom + y];
    }
    return right > left && bottom > top ? [left, top, right - left, bottom - top] : null;
  };
  const SPOTS = [[0.5, 0.5], [0.2, 0.5], [0.8, 0.5], [0.5, 0.15], [0.5, 0.85], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]];
  // Where to press an element: a place where the pointer reaches it, at its centre if possible; else null.
  const point = (key) => {
    const found = element(key);
    const box = area(found);
    if (!box) return null;
    for (const [x, y] of SPOTS) {
      const place = [box[0] + x * box[2], box[1] + y * box[3]];
      for (let hit = deepest(...place); hit; hit = hit.parentNode || hit.host || (hit.defaultView && hit.defaultView.frameElement)) {
        if (hit === found) return place;
      }
    }
    return null;
  };
  const boxes = (wanted) => {
    const places = wanted.map((key) => [key, byKey.get(key)]).filter(([, found]) => found && found.isConnected);
    return Object.fromEntries(places.map(([key, found]) => [key, area(found, false)]).filter(([, box]) => box));
  };
  const setter = (found) => {
    const view = found.ownerDocument.defaultView;
    const type = found.localName === "textarea" ? view.HTMLTextAreaElement : view.HTMLInputElement;
    return Object.getOwnPropertyDescriptor(type.prototype, "value").set;
  };
  const announce = (found) => {
    found.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    found.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const fill = (key, text) => {
    const found = element(key);
    found.focus();
    if (found.isContentEditable) {
      found.ownerDocument.getSelection().selectAllChildren(found);
      found.ownerDocument.execCommand("insertText", false, text);
      return;
    }
    setter(found).call(found, text);
    announce(found);
  };
  const choose = (key, chosen) => {
    const found = element(key);
    found.focus();
    const wanted = new Set(chosen.map(element));
    for (const option of found.options) option.selected = wanted.has(option);
    announce(found);
  };
  const give = (found, name, content) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], name));
    found.files = transfer.files;
  };
  const upload = (key, name, content) => {
    give(element(key), name, content);
    announce(element(key));
  };

  // Saving and restoring: documents as markup, and what markup does not hold, by position of its element.
  const roots = (parent, found) => {
    for (const each of parent.querySelectorAll("*"))
      if (each.shadowRoot) {
        found.push(each.shadowRoot);
        roots(each.shadowRoot, found);
      }
    return found;
  };
  const markup = (doc) => {
    const root = doc.documentElement;
    const names = [...root.attributes].filter(({ name }) => name !== "data-busy");
    const shell = document.createElement("p");
    for (const { name, value } of names) shell.setAttribute(name, value);
    const start = shell.outerHTML.replace(/^<p/, "<html").replace(/<\/p>$/, "");
    return `<!DOCTYPE html>${start}${root.getHTML({ shadowRoots: roots(doc, []) })}</html>`;
  };
  const elements = () => [...byKey.values()];
  const live = (found) => {
    const tag = found.localName;
    if (tag === "dialog") return found.matches(":modal") ? { modal: true } : null;
    if (tag === "option") return found.selected === found.defaultSelected ? null : { selected: found.selected };
    if (tag === "textarea") return found.value === found.defaultValue ? null : { value: found.value };
    if (tag !== "input") return null;
    if (found.type === "file") return found.files.length ? { file: found.files[0].name } : null;
    const changed = {};
    if (found.checked !== found.defaultChecked) changed.checked = found.checked;
    if (!AS_WRITTEN.has(found.type) && found.value !== found.defaultValue) changed.value = found.value;
    return Object.keys(changed).length ? changed : null;
  };
  const save = () => {
    const all = elements();
    const documents = [[location.href, markup(document)]];
    const framed = all.filter((each) => each.localName === "iframe" && each.contentDocument);
    for (const each of framed) documents.push([each.contentWindow.location.href, markup(each.contentDocument)]);
    return JSON.stringify({
      documents,
      tags: all.map((each) => each.localName).join(" "),
      keys: [...byKey.keys()],
      changes: all.map((each, index) => [index, live(each)]).filter((pair) => pair[1]),
      stored: [Object.entries(localStorage), Object.entries(sessionStorage)],
      scroll: [scrollX, scrollY],
    });
  };
  const frameTo = (urls) => {
    elements()
      .filter((each) => each.localName === "iframe" && each.contentDocument)
      .forEach((each, index) => {
        const url = urls[index];
        if (url && each.contentWindow.location.href !== url) {
          if (each.contentWindow.hx) each.contentWindow.hx.state.leaving = true;
          each.contentWindow.location.replace(url);
        }
      });
  };
  const restore = (saved, files) => {
    const all = elements();
    if (all.map((each) => each.localName).join(" ") !== saved.tags) return null;
    for (const [name, value] of saved.stored[0]) localStorage.setItem(name, value);
    for (const [name, value] of saved.stored[1]) sessionStorage.setItem(name, value);
    for (const [index, change] of saved.changes) {
      const found = all[index];
      if (change.modal) {
        found.removeAttribute("open");
        found.showModal();
      } else if ("file" in change) {
        if (change.file in files) give(found, change.file, files[change.file]);
      } else Object.assign(found, change);
    }
    scrollTo(...saved.scroll);
    return JSON.stringify([...byKey.keys()]);
  };

  // Whether a picture taken now shows no moment of a movement: neither an animation nor a caret.
  const steady = () => {
    const active = document.activeElement;
    const caret = active && (active.isContentEditable || active.shadowRoot || active.matches("input, textarea"));
    return !caret && !document.querySelector("iframe, frame") && !document.getAnimations().length;
  };

  const identity = Math.random().toString(36).slice(2);
  window.hx = {
    document: identity,
    state,
    observe: async (limit) => ((await settle(limit)) ? snapshot() : null),
    stay: () => {
      state.leaving = false;
      for (const frame of frames(document)) if (frame.contentWindow.hx) frame.contentWindow.hx.state.leaving = false;
    },
    point,
    boxes,
    steady,
    press: (key) => void element(key).click(),
    focus: (key) => void element(key).focus(),
    fill,
    choose,
    upload,
    forget: () => {
      state.leaving = false;
      window.name = "";
      if (location.protocol === "http:") sessionStorage.clear();
    },
    save,
    frameTo,
    restore,
  };
})();
