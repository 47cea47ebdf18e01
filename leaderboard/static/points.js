// Weighted sums over events; the weights are the reader's and are not kept.
"use strict";

(() => {
  const form = document.querySelector("form.weights");
  const table = document.getElementById("points");
  const last = table.tHead.rows[0].cells.length - 1;
  function sum() {
    const weights = Array.from(form.querySelectorAll("input"), (input) => Math.max(0, Number(input.value) || 0));
    const whole = weights.reduce((a, b) => a + b, 0);
    for (const row of Array.from(table.tBodies[0].rows)) {
      const points = weights.reduce((total, weight, place) =>
        total + weight * Number(row.cells[place + 1].dataset.value || 0), 0);
      const value = whole ? points / whole * weights.length : 0;
      row.cells[last].dataset.value = value;
      row.cells[last].textContent = value.toFixed(0);
    }
    sortTable(table, last, false);
  }
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", sum);
  sum();
})();
