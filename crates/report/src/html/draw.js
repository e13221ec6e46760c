// Draws every chart of the page, and anew when the colours or the width change. `builders` holds how.
"use strict";
const drawn = new Map();
const draw = (place) => {
  for (const plot of drawn.get(place) || []) plot.destroy();
  try {
    drawn.set(place, builders[place.dataset.chart](place));
  } catch (error) {
    drawn.delete(place);
    keepError(place.dataset.chart + ": " + error.message);
    place.textContent = "This chart could not be drawn; its numbers are in the table below.";
  }
};
let places = [];
// What is folded has no width.
const isSeen = (place) => !place.closest("details:not([open])");
const drawAll = () => {
  places.filter(isSeen).forEach(draw);
  page.dataset.rendered = String(drawn.size);
};
// Above the chart of response times over the run, a button that changes their axis.
const offerAxis = () => {
  const place = places.find((place) => place.dataset.chart === "over-time");
  if (!place || place.previousElementSibling) return;
  const tools = document.createElement("div");
  tools.className = "chart-tools";
  const toggle = document.createElement("button");
  toggle.type = "button";
  toggle.textContent = "logarithmic times";
  toggle.setAttribute("aria-pressed", String(logTime));
  toggle.addEventListener("click", () => {
    logTime = !logTime;
    toggle.setAttribute("aria-pressed", String(logTime));
    draw(place);
  });
  tools.append(toggle);
  place.before(tools);
};
// Draws what the page has room for now, but for places that are to stay as they are.
const drawPage = (stays = () => false) => {
  places = [...document.querySelectorAll("[data-chart]")];
  for (const [place, plots] of drawn) {
    if (places.includes(place)) continue;
    plots.forEach((plot) => plot.destroy());
    drawn.delete(place);
  }
  offerAxis();
  places.filter((place) => isSeen(place) && (!drawn.has(place) || !stays(place))).forEach(draw);
  page.dataset.rendered = String(drawn.size);
};
drawPage();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
addEventListener("beforeprint", () => { page.dataset.printing = "yes"; drawAll(); });
addEventListener("afterprint", () => { delete page.dataset.printing; drawAll(); });
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width || printing()) return;
  width = innerWidth;
  drawAll();
});
