// What a reader may change of the charts over the run: how much of it they show, how times are drawn, and of which step. All charts over
// the run show the same stretch, wherever it was chosen: by dragging on one of them, by a button, or by a key.
"use strict";
// The stretch that is shown, in seconds; none is the whole run.
let stretch = null;
// The step that is shown; none is all requests.
let step = null;
const overRun = () => [...drawn.values()].flat().filter((u) => u.cursor?.sync?.key === "over-time");
const ends = (u) => [u.data[0][0], u.data[0][u.data[0].length - 1]];
const wholeRun = () => overRun().map(ends).reduce(([a, b], [c, d]) => [Math.min(a, c), Math.max(b, d)], [Infinity, -Infinity]);
const sayStretch = () => {
  const place = document.querySelector(".stretch");
  if (!place) return;
  const text = stretch ? "shown: " + stretch.map((s) => Number(s.toPrecision(4))).join(" to ") + " s" : "";
  if (place.textContent !== text) place.textContent = text;
};
// Every chart over the run that is drawn from here on shows the stretch, and tells when another one is chosen on it.
const join = (plots) => {
  for (const u of plots) {
    if (u.cursor?.sync?.key !== "over-time") continue;
    const told = (_, scale) => {
      const { min, max } = u.scales.x;
      if (scale !== "x" || min == null) return;
      const [first, last] = ends(u), near = (last - first) * 1e-6;
      stretch = min <= first + near && max >= last - near ? null : [min, max];
      sayStretch();
    };
    u.hooks.setScale = [...(u.hooks.setScale || []), told];
    if (stretch) u.setScale("x", { min: stretch[0], max: stretch[1] });
  }
};
const showStretch = (next) => {
  for (const u of overRun()) {
    const [min, max] = next || ends(u);
    u.setScale("x", { min, max });
  }
};
// Makes the stretch that many times as long, about its middle, and moves it by a part of its length.
const changeStretch = (times, by) => {
  const [first, last] = wholeRun();
  const [from, to] = stretch || [first, last];
  const length = Math.min(Math.max((to - from) * times, (last - first) / 1000), last - first);
  if (!(length > 0)) return;
  const begin = Math.min(Math.max((from + to - length) / 2 + by * length, first), last - length);
  showStretch(length >= last - first ? null : [begin, begin + length]);
};
const acts = [
  ["\u2212", "zoom out", "-", () => changeStretch(2, 0)],
  ["+", "zoom in", "+", () => changeStretch(0.5, 0)],
  ["\u2190", "earlier", "ArrowLeft", () => changeStretch(1, -0.5)],
  ["\u2192", "later", "ArrowRight", () => changeStretch(1, 0.5)],
  ["whole run", "show the whole run", "0", () => showStretch(null)],
];
const element = (tag, more, ...inside) => {
  const of = Object.assign(document.createElement(tag), more);
  of.append(...inside);
  return of;
};
const toolButton = (text, title, act) => {
  const of = element("button", { type: "button", title }, text);
  of.addEventListener("click", act);
  return of;
};
// Steps of which there are curves or rows.
const stepNames = () => {
  const all = typeof summary === "undefined" ? [] : Object.entries(summary?.by_label || {});
  return all.length > 1 ? all.sort((a, b) => b[1].n - a[1].n).map(([name]) => name) : [];
};
// Rows that go on with the one above (its interval) move with it.
const groupsOf = (body) => {
  const groups = [];
  for (const row of body.rows) {
    const head = row.cells[0];
    if (groups.length && head && (head.classList.contains("faint") || !head.textContent.trim())) groups[groups.length - 1].push(row);
    else groups.push([row]);
  }
  return groups;
};
const inOneLine = (text) => text.replaceAll("\u00a0", " ").trim();
// Leaves of every table with a column of steps the rows of that step.
const filterTables = () => {
  for (const table of document.querySelectorAll(".scroll table")) {
    const column = [...(table.tHead?.rows[0].cells || [])].findIndex((th) => th.dataset.steps != null);
    if (column < 0) continue;
    for (const rows of groupsOf(table.tBodies[0])) {
      const other = step != null && inOneLine(rows[0].cells[column].textContent) !== inOneLine(step);
      for (const row of rows) row.hidden = other;
    }
  }
};
const chooseStep = (name) => {
  step = name;
  filterTables();
  for (const place of drawn.keys()) if (["over-time", "steps-over-time"].includes(place.dataset.chart)) draw(place);
};
const offerTools = () => {
  const place = places.find(({ dataset: { chart } }) => ["over-time", "comparison-over-time"].includes(chart));
  if (!place || place.previousElementSibling) return;
  const tools = element("div", { className: "chart-tools", role: "toolbar", ariaLabel: "What the charts over the run show" });
  const names = place.dataset.chart === "over-time" ? stepNames() : [];
  if (names.length) {
    const choice = element("select", {}, element("option", { value: "", textContent: "all steps" }), ...names.map((name) => element("option", { value: name }, shortName(name))));
    choice.addEventListener("change", () => chooseStep(choice.value || null));
    tools.append(element("label", {}, "Step ", choice));
  }
  if (typeof logTime !== "undefined") {
    const toggle = toolButton("logarithmic times", "times on a logarithmic axis", () => {
      logTime = !logTime;
      toggle.setAttribute("aria-pressed", String(logTime));
      draw(place);
    });
    toggle.setAttribute("aria-pressed", String(logTime));
    tools.append(toggle);
  }
  const zoom = element("span", { className: "zoom", role: "group", ariaLabel: "Zoom" });
  zoom.append(...acts.map(([text, title, key, act]) => toolButton(text, `${title} (${key.replace("Arrow", "arrow ").toLowerCase()})`, act)));
  tools.prepend(element("span", { className: "stretch", role: "status" }));
  tools.append(zoom);
  tools.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.localName === "select") return;
    const act = acts.find(([, , key]) => event.key === key || (key === "+" && event.key === "="));
    if (!act) return;
    event.preventDefault();
    act[3]();
  });
  place.before(tools);
  sayStretch();
};
