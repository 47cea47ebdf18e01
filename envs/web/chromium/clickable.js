"use strict";
// Finds what reacts to the pointer on pages that are not the event's own, and names it.
(() => {
  if (window.hxForeign) return;
  const ACTIVE = "a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=''],[contenteditable=true],[role=button],[role=link],[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],[role=textbox],[role=combobox],[role=slider],[role=spinbutton],[role=switch]";
  const HANDLES = ".ui-draggable,.ui-sortable-handle,.ui-slider-handle,.ui-resizable-handle,.ui-droppable,[draggable=true]";
  const SHAPES = new Set(["rect", "circle", "ellipse", "polygon", "polyline", "path", "line", "image", "text", "tspan"]);
  const NAMES = {
    "255,0,0": "red", "0,128,0": "green", "0,255,0": "lime", "0,0,255": "blue", "255,255,0": "yellow",
    "255,165,0": "orange", "128,0,128": "purple", "255,192,203": "pink", "0,0,0": "black", "255,255,255": "white",
    "128,128,128": "gray", "0,255,255": "cyan (aqua)", "255,0,255": "magenta (fuchsia)", "165,42,42": "brown", "0,128,128": "teal",
    "128,0,0": "maroon", "0,0,128": "navy", "128,128,0": "olive", "192,192,192": "silver",
  };
  const colour = (text) => {
    const parts = (text.match(/[\d.]+/g) || []).map(Number);
    if (parts.length < 3 || parts[3] === 0) return "";
    const rgb = parts.slice(0, 3).join(",");
    return NAMES[rgb] || `rgb(${rgb})`;
  };
  const listens = (element) => element.hasAttribute("data-listens") || element.hasAttribute("onclick") || element.hasAttribute("onmousedown");
  const pointed = (element) => {
    if (getComputedStyle(element).cursor !== "pointer") return false;
    const around = element.parentElement;
    return !around || getComputedStyle(around).cursor !== "pointer";
  };
  const handled = (element) => {
    for (let around = element.parentElement; around && around !== document.body; around = around.parentElement)
      if (listens(around)) return true;
    return false;
  };
  const describe = (element, tag) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const shape = element instanceof SVGElement;
    const words = [colour(shape ? style.fill : style.backgroundColor), shape ? tag : element.className || tag];
    const place = [box.left + box.width / 2, box.top + box.height / 2, box.width, box.height].map(Math.round);
    return `${words.filter(Boolean).join(" ")} at ${place[0]},${place[1]} size ${place[2]}x${place[3]}`;
  };
  // `data-clickable` makes the element one that the agent can act on; inner ones come before outer ones.
  const mark = (element, tag, found, item) => {
    if (element.matches(ACTIVE)) {
      item.active = true;
      if (!element.innerText && !("value" in element) && !found["aria-label"] && tag !== "a") found["aria-label"] = describe(element, tag);
      return;
    }
    const inner = item.slice(3).some((child) => child.active);
    if (inner) item.active = true;
    const handle = element.matches(HANDLES);
    const leaf = !element.firstElementChild;
    const text = element.textContent.trim();
    const shape = element instanceof SVGElement && SHAPES.has(tag);
    const box = element.getBoundingClientRect();
    if (!handle && !shape && !box.width && !box.height) return;
    const own = (listens(element) || pointed(element)) && !inner && tag !== "svg" && tag !== "canvas";
    const part = leaf && !inner && handled(element) && (text || shape || tag === "img" || tag === "div");
    if (!(own || part || (handle && !inner) || shape)) return;
    item.active = true;
    found["data-clickable"] = "";
    if (shape && text) found["aria-label"] = `${text}: ${describe(element, tag)}`;
    else if (!text && !found["aria-label"] && !found.alt) found["aria-label"] = describe(element, tag);
  };
  window.hxForeign = { mark };
})();
