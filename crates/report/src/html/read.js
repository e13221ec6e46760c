// What helps a reader of a finished page: folded sections, the index, tables that can be sorted, and paper that holds everything.
"use strict";
const folds = () => [...document.querySelectorAll("details.fold")];
// A chart has no width while it is folded: it is drawn when it comes to light, and anew each time, since the page may have changed.
document.addEventListener("toggle", (event) => {
  if (!event.target.open) return;
  for (const place of event.target.querySelectorAll("[data-chart]")) draw(place);
  page.dataset.rendered = String(drawn.size);
}, true);
// A link to a folded section unfolds it.
const unfoldTarget = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && (target.querySelector(":scope > details.fold") || target.closest("details.fold"));
  if (fold) fold.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
const contents = document.querySelector("nav details");
if (contents) {
  contents.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    contents.open = false;
    // The address does not change where it is that already.
    if (link.hash === location.hash) unfoldTarget();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !contents.open) return;
    contents.open = false;
    contents.querySelector("summary").focus();
  });
}
// Paper holds everything.
let folded = [];
addEventListener("beforeprint", () => {
  folded = folds().filter((fold) => !fold.open);
  for (const fold of folded) fold.open = true;
  drawAll();
});
addEventListener("afterprint", () => { for (const fold of folded) fold.open = false; });

// What a cell is sorted by: a number with its unit in one measure, or its text.
const units = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 };
const sortValue = (cell) => {
  // What begins with a number without its unit, as a range does, has its value beside it.
  if (cell?.dataset.sort) return Number(cell.dataset.sort);
  const text = cell ? cell.textContent.trim() : "";
  const found = /^[<>]?\s*([-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)(?:\s*([a-zA-Z]+))?/.exec(text);
  return found ? Number(found[1].replaceAll(",", "")) * (units[found[2]] ?? 1) : text;
};
// Numbers before words, and those in their own orders.
const before = (a, b) => {
  const [one, two] = [typeof a, typeof b];
  if (one !== two) return one === "number" ? -1 : 1;
  return one === "number" ? a - b : a.localeCompare(b);
};
const sortBy = (table, column, button) => {
  const head = button.closest("th");
  // Numbers are looked at from the largest on, words from A.
  const first = head.classList.contains("number") ? "descending" : "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const order = head.getAttribute("aria-sort") === first ? other : first;
  for (const th of table.tHead.rows[0].cells) th.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const groups = groupsOf(body).map((rows) => ({ rows, value: sortValue(rows[0].cells[column]) }));
  // What is no number stays last, whichever way numbers go.
  const compare = (a, b) => (typeof a.value === typeof b.value ? sign * before(a.value, b.value) : before(a.value, b.value));
  body.append(...groups.sort(compare).flatMap(({ rows }) => rows));
};
for (const table of document.querySelectorAll(".scroll table")) {
  if (!table.tHead || groupsOf(table.tBodies[0]).length < 3) continue;
  [...table.tHead.rows[0].cells].forEach((th, column) => {
    if (!th.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...th.childNodes);
    button.addEventListener("click", () => sortBy(table, column, button));
    th.append(button);
  });
}
