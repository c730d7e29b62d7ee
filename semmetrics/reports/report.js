const key = cell => { const n = parseFloat(cell.replace(/[,<]/g, "")); return isNaN(n) ? null : n };
document.querySelectorAll("table.sorted").forEach(table => {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(one => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const rows = [...body.rows].map(row => [row.cells[column].textContent.trim(), row]);
      const compare = ([a], [b]) => {
        if (!a || !b) return !a - !b;  // what is undefined stays last
        const x = key(a), y = key(b);
        const order = x === null || y === null ? a.localeCompare(b) : x - y;
        return falling ? -order : order;
      };
      body.append(...rows.sort(compare).map(([, row]) => row));
    });
  });
});
document.querySelectorAll("input[type=search]").forEach(input => {
  const rows = [...document.getElementById(input.dataset.of).tBodies[0].rows];
  const texts = rows.map(row => row.textContent.toLowerCase());
  const found = document.getElementById(input.dataset.of + "-found");
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, place) => { shown += !(row.hidden = !texts[place].includes(wanted)) });
    found.textContent = wanted ? shown + " of " + rows.length : "";
  });
});
