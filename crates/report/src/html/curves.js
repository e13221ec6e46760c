// A plot of latency curves, of studies and of comparisons: which share of requests is slower, on a logarithmic axis on which each
// further nine takes the same room.
"use strict";
const dashes = [undefined, [8, 4], [3, 3]];
// Six colours, and beyond them the same with other dashes.
const looks = (i) => ({ stroke: lineColour(i), dash: dashes[Math.floor(i / 6) % dashes.length] });

// `lines`: a label, points of (share of requests up to it, time), and how it is drawn.
const curvesPlot = (place, lines) => {
  const side = (p) => 1 / (1 - p);
  const table = (points) => {
    const kept = points.filter(([p, value]) => p < 1 && value > 0);
    return [kept.map(([p]) => side(p)), kept.map(([, value]) => value)];
  };
  const data = uPlot.join(lines.map((line) => table(line.points)));
  const last = data[0][data[0].length - 1] || 10;
  const splits = [2, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((x) => x <= last * 1.001);
  const all = data.slice(1).flat().filter((v) => v > 0);
  const low = Math.min(...all), high = Math.max(...all);
  const narrow = widthOf(place) < 600;
  const percent = (x) => share(100 * (1 - 1 / x));
  const value = (u, v) => time(v);
  const series = lines.map(({ label, look }) => ({ label, width: 2, spanGaps: true, points: { show: false }, value, ...look }));
  return [new uPlot(options(place, narrow ? 280 : 380, {
    scales: { x: { time: false, distr: 3, range: () => [1, Math.max(last, 10)] }, y: { distr: 3, range: () => logRange(1e-9)(null, Math.max(low, high / 1e4), high) } },
    series: [{ label: "share", value: (u, v) => (v == null ? "-" : percent(v)) }, ...series],
    axes: [
      axis({ splits: () => splits, filter: (u, found) => found, values: (u, found) => found.map(percent), label: "share of requests at most this slow", size: 32, space: 30 }),
      axis({ values: (u, found) => found.map(axisTime), size: narrow ? 54 : 66 }),
    ],
  }), data, place)];
};

// The points of a run's percentile curve.
const percentilePoints = (curve) => curve.filter((point) => !point.lower_bound).map((point) => [point.percentile / 100, point.value]);
