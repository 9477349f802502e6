"use strict";
// Sorting, filtering and choosing a file; the page is whole without it.
(() => {
  const file = document.getElementById("file");
  if (file) {
    file.addEventListener("change", () => {
      location.href = file.dataset.href + encodeURIComponent(file.value);
    });
  }
  const table = document.getElementById("results");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const texts = rows.map((row) => (row.textContent + " " + row.dataset.tags).toLowerCase());
  const search = document.getElementById("search");
  const verdict = document.getElementById("verdict");
  const model = document.getElementById("model");
  const shown = document.getElementById("shown");

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      const fits =
        words.every((word) => texts[index].includes(word)) &&
        (!verdict.value || row.dataset.verdict === verdict.value) &&
        (!model.value || row.dataset.model === model.value);
      row.hidden = !fits;
      if (fits) count += 1;
    });
    shown.value = count + " shown";
  };
  for (const control of [search, verdict, model]) control.addEventListener("input", filter);

  const key = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent.trim().toLowerCase();
    return cell.dataset.value === "" ? -Infinity : Number(cell.dataset.value);
  };
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = head.querySelector(".sort");
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = rows.map((row, index) => [key(row, column, button.dataset.kind), index, row]);
      keyed.sort((a, b) => {
        const order = a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
        return (down ? -order : order) || a[1] - b[1];
      });
      body.append(...keyed.map((item) => item[2]));
    });
  });
})();
