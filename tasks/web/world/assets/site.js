"use strict";
// Behaviours of pages, declared in data- attributes. The fast twin implements the same ones in
// Python (envs/web/twin/behaviours.py); docs/notes/web.md lists them.
(() => {
  const origin = (event, selector) => {
    const first = event.composedPath()[0];
    return first instanceof Element ? first.closest(selector) : null;
  };
  const scope = (element) => element.getRootNode();
  const byId = (element, id) => scope(element).getElementById(id);
  let pending = 0;
  const busy = (change) => {
    pending += change;
    document.documentElement.toggleAttribute("data-busy", pending > 0);
  };
  const load = async (element, url, into) => {
    const target = byId(element, into);
    busy(1);
    try {
      const response = await fetch(url, { headers: { "X-Fragment": "1" } });
      target.innerHTML = await response.text();
    } finally {
      busy(-1);
    }
  };
  const fields = (form) => {
    const sent = [...new FormData(form)].filter(([, value]) => typeof value === "string");
    return new URLSearchParams(sent).toString();
  };

  // A double click acts once, so that nothing is sent twice.
  document.addEventListener(
    "click",
    (event) => {
      if (event.detail < 2) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );

  document.addEventListener("click", (event) => {
    const element = origin(event, "[data-open],[data-close],[data-toggle],[data-load],[data-set],[data-optimistic]");
    if (!element || element.disabled) return;
    const data = element.dataset;
    if (data.open !== undefined) byId(element, data.open).showModal();
    else if (data.close !== undefined) element.closest("dialog").close();
    else if (data.toggle !== undefined) {
      const target = byId(element, data.toggle);
      target.hidden = !target.hidden;
    } else if (data.load !== undefined) load(element, data.load, data.into);
    else if (data.set !== undefined) {
      byId(element, data.set).value = data.value;
      if (data.empty) byId(element, data.empty).innerHTML = "";
    } else {
      element.textContent = data.optimistic;
      busy(1);
      fetch(data.post, { method: "POST", redirect: "manual" }).finally(() => busy(-1));
    }
  });
  document.addEventListener("change", (event) => {
    const element = origin(event, "[data-depends]");
    if (element) load(element, `${element.dataset.depends}?${fields(element.form)}`, element.dataset.into);
  });
  document.addEventListener("dragstart", (event) => {
    const element = origin(event, "[data-drag]");
    if (element) event.dataTransfer.setData("text/plain", element.dataset.drag);
  });
  document.addEventListener("dragover", (event) => {
    if (origin(event, "[data-drop]")) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const element = origin(event, "[data-drop]");
    if (!element) return;
    event.preventDefault();
    const form = document.createElement("form");
    form.method = "post";
    form.action = element.dataset.drop;
    form.hidden = true;
    const field = document.createElement("input");
    field.name = "item";
    field.value = event.dataTransfer.getData("text/plain");
    form.append(field);
    document.body.append(form);
    form.submit();
  });
})();
