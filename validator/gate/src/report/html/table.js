"use strict";
// Filters and sorts the table of cases. Without a script it stays in the order of the page.
(() => {
  const table = document.getElementById("table"), body = table.tBodies[0], rows = [...body.rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const box = document.getElementById("filter"), told = document.getElementById("told");
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, at) => {
      const fits = words.every((word) => texts[at].includes(word));
      row.classList.toggle("away", !fits);
      shown += fits ? 1 : 0;
    });
    told.value = `${shown} of ${rows.length} rows`;
  });
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    const isNumber = cell.classList.contains("n");
    button.addEventListener("click", () => {
      const order = cell.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const keys = new Map(rows.map((row) => [row, row.cells[column].textContent]));
      const compare = (one, other) => isNumber
        ? keys.get(one) - keys.get(other)
        : keys.get(one) < keys.get(other) ? -1 : keys.get(one) > keys.get(other) ? 1 : 0;
      body.append(...rows.slice().sort((one, other) => sign * compare(one, other)));
    });
  });
  document.getElementById("tools").hidden = false;
})();
