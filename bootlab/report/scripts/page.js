// Sorts the tables whose rows have no order of their own. Everything else on the page works without scripts.
"use strict";

for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const said = document.createElement("p");
  said.className = "said-only";
  said.setAttribute("role", "status");
  table.after(said);

  headings.forEach((heading, column) => {
    if (!("sortable" in heading.dataset)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      // Figures start with the largest, words with A; a second click turns the order round.
      const numeric = heading.matches(".number, .chart");
      const first = numeric ? "descending" : "ascending";
      const now = heading.getAttribute("aria-sort");
      const order = now === null ? first : now === "ascending" ? "descending" : "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", order);
      sort(table.tBodies[0], column, order === "ascending" ? 1 : -1);
      said.textContent = "Sorted by " + button.textContent + ", " + order + ".";
    });
  });
}

function sort(body, column, direction) {
  const rows = [...body.rows].map((row) => ({ row, key: key(row.cells[column]) }));
  rows.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    return direction * compare(a.key, b.key);
  });
  body.append(...rows.map(({ row }) => row));
}

// What has no value sorts last either way.
function key(cell) {
  const value = cell.dataset.key ?? cell.textContent.trim();
  if (value === "") return null;
  return Number.isNaN(Number(value)) ? value : Number(value);
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
