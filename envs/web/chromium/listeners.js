"use strict";
// Runs in the world of foreign pages before their scripts: notes on each element that it listens to the pointer.
(() => {
  const KINDS = /^(click|mousedown|mouseup|pointerdown|pointerup|dblclick|touchstart)$/;
  const note = (target) => {
    if (target instanceof Element && target !== document.body && target !== document.documentElement)
      target.setAttribute("data-listens", "");
  };
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (kind, ...rest) {
    if (KINDS.test(kind)) note(this);
    return add.call(this, kind, ...rest);
  };
  for (const type of [HTMLElement, SVGElement])
    for (const name of ["onclick", "onmousedown", "onmouseup"]) {
      const found = Object.getOwnPropertyDescriptor(type.prototype, name);
      Object.defineProperty(type.prototype, name, {
        ...found,
        set(handler) {
          if (handler) note(this);
          found.set.call(this, handler);
        },
      });
    }
})();
