// Draws every chart of the page, and anew when the colours or the width change. `builders` holds how.
"use strict";
const drawn = new Map();
const draw = (place) => {
  for (const plot of drawn.get(place) || []) plot.destroy();
  try {
    const plots = builders[place.dataset.chart](place);
    drawn.set(place, plots);
    join(plots);
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
// Draws what the page has room for now, but for places that are to stay as they are.
const drawPage = (stays = () => false) => {
  places = [...document.querySelectorAll("[data-chart]")];
  for (const [place, plots] of drawn) {
    if (places.includes(place)) continue;
    plots.forEach((plot) => plot.destroy());
    drawn.delete(place);
  }
  offerTools();
  filterTables();
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
