const sheet = JSON.parse(document.getElementById("sheet").textContent);
const fields = [...document.querySelectorAll("[data-row]")];
const value = row => {
  const mine = fields.filter(field => field.dataset.row === String(row));
  if (mine[0].type !== "radio") return mine[0].value;
  const chosen = mine.find(field => field.checked);
  return chosen ? chosen.value : "";
};
const key = "semmetrics " + sheet.digest;
const count = () => {
  const filled = sheet.rows.filter((_, row) => value(row).trim()).length;
  document.getElementById("count").textContent = filled + " of " + sheet.rows.length + " filled";
};
const keep = () => {
  try { localStorage.setItem(key, JSON.stringify(sheet.rows.map((_, row) => value(row)))); }
  catch (error) { /* a browser may keep nothing of local files */ }
  count();
};
try {
  (JSON.parse(localStorage.getItem(key)) || []).forEach((text, row) => {
    fields.filter(field => field.dataset.row === String(row)).forEach(field => {
      if (field.type === "radio") field.checked = field.value === text;
      else field.value = text;
    });
  });
} catch (error) { /* nothing was kept */ }
const cell = text => /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
document.getElementById("save").addEventListener("click", () => {
  const rows = sheet.rows.map((row, place) => [...row, value(place)]);
  const lines = [sheet.columns, ...rows].map(row => row.map(cell).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], {type: "text/csv"}));
  link.download = sheet.name;
  link.click();
  URL.revokeObjectURL(link.href);
});
document.addEventListener("input", keep);
count();
