// A click on a column sorts each body of its table: first ascending, then descending; empty cells stay last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("tr.columns th")];
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    const number = parseFloat(text.replaceAll(",", ""));
    return text === "" || text === "—" ? null : cell.classList.contains("number") && !isNaN(number) ? number : text;
  };
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    for (const body of table.tBodies) {
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([a], [b]) => a === null ? (b === null ? 0 : 1) : b === null ? -1 : (a > b ? 1 : a < b ? -1 : 0) * (up ? 1 : -1));
      rows.forEach(([, row]) => body.append(row));
    }
  }));
}
