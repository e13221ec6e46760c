// Before everything else: an error anywhere on the page is kept where a check (and a reader) can see it.
"use strict";
const page = document.documentElement;
const keepError = (text) => {
  page.dataset.errors = (page.dataset.errors ? page.dataset.errors + "\n" : "") + text;
};
window.addEventListener("error", (event) => keepError(String(event.message)));
window.addEventListener("securitypolicyviolation", (event) => keepError("policy: " + event.blockedURI));

// Numbers as in the rest of the page: three digits, the unit that fits, an exponent where it is very large or small.
const large = 1e15;
const digits = (x) => {
  if (x === 0) return "0";
  if (Math.abs(x) >= large || Math.abs(x) < 1e-6) return x.toExponential(2).replace("+", "");
  const exponent = Math.floor(Math.log10(Math.abs(x)));
  if (Math.abs(x) >= 1000) return Math.round(x).toLocaleString("en-US");
  return x.toFixed(Math.min(12, Math.max(0, 2 - exponent)));
};
const timeUnits = [["h", 3600, 6000], ["min", 60, 100], ["s", 1, 1], ["ms", 1e-3, 1e-3], ["us", 1e-6, 1e-6], ["ns", 1e-9, 0]];
const timeUnit = (s) => (Math.abs(s) >= large ? ["s", 1] : timeUnits.find(([, , from]) => Math.abs(s) >= from * 0.9999999));
const time = (s) => {
  if (s == null) return "-";
  if (s === 0) return "0";
  const [unit, length] = timeUnit(s);
  return digits(s / length) + " " + unit;
};
// On an axis trailing zeros are noise, and decades of minutes are not round.
const axisTime = (s) => {
  if (s == null) return "";
  if (s === 0) return "0";
  if (Math.abs(s) >= large) return digits(s) + " s";
  const [unit, length] = Math.abs(s) >= 1 ? ["s", 1] : timeUnit(s);
  return Number((s / length).toPrecision(3)).toLocaleString("en-US") + " " + unit;
};
const axisCount = (v) => (v >= large ? digits(v) : v >= 1e6 ? v / 1e6 + "M" : v >= 1e4 ? v / 1e3 + "k" : v.toLocaleString("en-US"));
const sizeUnits = [["B", 1, 1e3], ["KiB", 1024, 1e6], ["MiB", 1048576, 1e9], ["GiB", 1073741824, Infinity]];
const sizeIn = (bytes, show) => {
  const [unit, length] = sizeUnits.find(([, , below]) => Math.abs(bytes) < below);
  return show(bytes / length) + " " + unit;
};
const size = (bytes) => sizeIn(bytes, digits);
const axisSize = (bytes) => (bytes === 0 ? "0" : sizeIn(bytes, (x) => String(Number(x.toPrecision(3)))));
const share = (p) => (p == null ? "-" : Number(p.toPrecision(6)) + " %");

const style = (name) => getComputedStyle(page).getPropertyValue(name).trim();
const faded = (colour, alpha) => colour + Math.round(alpha * 255).toString(16).padStart(2, "0");
// Lines of which there may be many: the colours in turn, the louder ones first.
const lineColour = (i) => style(["--one", "--two", "--four", "--five", "--six", "--three"][i % 6]);
// A legend has no room for a long name; the table below the chart has all of it.
const shortName = (name) => (name.length > 40 ? name.slice(0, 39) + "\u2026" : name);
const printing = () => page.dataset.printing === "yes";
const widthOf = (place) => (printing() ? 680 : Math.max(240, place.clientWidth));

// What all charts share. `extra` wins.
const axis = (extra) => ({
  stroke: style("--muted"),
  grid: { stroke: style("--grid"), width: 1 },
  ticks: { stroke: style("--line"), width: 1, size: 5 },
  font: "12px system-ui, sans-serif",
  labelFont: "12px system-ui, sans-serif",
  labelSize: 20,
  ...extra,
});
const options = (place, height, extra) => {
  ["x", "y"].forEach((scale, i) => {
    if (extra.scales[scale].distr === 3) extra.axes[i] = { splits: logSplits, filter: logLabels, ...extra.axes[i] };
  });
  return {
    width: widthOf(place),
    height,
    // Solid marks: an outlined square says little about a thin line.
    legend: { live: true, markers: { width: 0, fill: (u, i) => u.series[i].stroke(u, i) } },
    cursor: { drag: { x: true, y: false }, points: { size: 6 } },
    ...extra,
  };
};
// The digits 1 to 9 of each power of ten within the range, or finer steps where it holds few of these. uPlot's own steps never end
// where a range begins between 9.5 and 10 of some power of ten.
const logSplits = (u, axis, low, high) => {
  const splits = [];
  // From nothing, or to infinity, there would be no end to them.
  if (!(low > 0) || !Number.isFinite(high)) return splits;
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (let digit = 1; digit <= 9; digit++) splits.push(Number(digit + "e" + power));
  }
  const within = splits.filter((split) => split >= low * 0.999999 && split <= high * 1.000001);
  if (within.length > 3 || !(high > low * 1.000001)) return within;
  const power = Math.floor(Math.log10((high - low) / 4));
  const step = [1, 2, 5, 10].map((digit) => Number(digit + "e" + power)).find((step) => (high - low) / step <= 8);
  const first = Math.ceil(low / step - 1e-6);
  return Array.from({ length: Math.floor(high / step + 1e-6) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
};
// Which of them have a label: all if there is room, else those that begin with certain digits; at least two in any case.
const logLabels = (u, splits, at, space) => {
  const places = splits.map((split) => u.valToPos(split, u.axes[at].scale));
  const digit = (split) => Number(split.toExponential(5).split("e")[0]);
  for (const kept of [null, [1, 2, 3, 5, 7], [1, 2, 5], [1]]) {
    const indices = splits.map((_, i) => i).filter((i) => !kept || kept.includes(digit(splits[i])));
    const apart = indices.every((i, k) => k === 0 || Math.abs(places[i] - places[indices[k - 1]]) >= space);
    if (apart && (indices.length > 1 || splits.length < 2)) return splits.map((split, i) => (indices.includes(i) ? split : null));
  }
  // Else whatever has room beside the last one, powers of ten if there are several.
  let last = -Infinity;
  const powers = splits.filter((split) => digit(split) === 1).length > 1;
  return splits.map((split, i) => {
    if ((powers && digit(split) !== 1) || Math.abs(places[i] - last) < space) return null;
    last = places[i];
    return split;
  });
};
const logRange = (floor) => (u, low, high) => {
  if (low == null || !(high > 0)) return [0.001, 1];
  const from = Math.pow(10, Math.floor(Math.log10(Math.max(low, floor))));
  return [from, Math.max(from * 10, Math.pow(10, Math.ceil(Math.log10(high * 1.02))))];
};
const positive = (value) => (value > 0 ? value : null);
