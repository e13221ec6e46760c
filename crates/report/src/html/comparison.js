// The chart of a comparison: latency curves of all runs in one plot.
"use strict";
const comparison = JSON.parse(document.getElementById("comparison").textContent);
const dashes = [undefined, [8, 4], [3, 3]];

// Which share of requests is slower, on a logarithmic axis: each further nine takes the same room.
const comparisonCurves = (place) => {
  const side = (p) => 100 / (100 - p);
  const table = (curve) => {
    const kept = curve.filter((point) => point.percentile < 100 && point.value > 0 && !point.lower_bound);
    return [kept.map((point) => side(point.percentile)), kept.map((point) => point.value)];
  };
  const value = (u, v) => time(v);
  const lines = comparison.runs.filter((run) => run.curve.length > 1).map((run, k) => ({
    table: table(run.curve),
    series: { label: run.name, width: 2, spanGaps: true, points: { show: false }, value, stroke: lineColour(k), dash: dashes[Math.floor(k / 6) % dashes.length] },
  }));
  const data = uPlot.join(lines.map((line) => line.table));
  const last = data[0][data[0].length - 1] || 10;
  const splits = [2, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((x) => x <= last * 1.001);
  const all = data.slice(1).flat().filter((v) => v > 0);
  const low = Math.min(...all), high = Math.max(...all);
  const narrow = widthOf(place) < 600;
  const percent = (x) => share(100 * (1 - 1 / x));
  return [new uPlot(options(place, narrow ? 280 : 380, {
    scales: { x: { time: false, distr: 3, range: () => [1, Math.max(last, 10)] }, y: { distr: 3, range: () => logRange(1e-9)(null, Math.max(low, high / 1e4), high) } },
    series: [{ label: "share", value: (u, v) => (v == null ? "-" : percent(v)) }, ...lines.map((line) => line.series)],
    axes: [
      axis({ splits: () => splits, filter: (u, found) => found, values: (u, found) => found.map(percent), label: "share of requests at most this slow", size: 32, space: 30 }),
      axis({ values: (u, found) => found.map(axisTime), size: narrow ? 54 : 66 }),
    ],
  }), data, place)];
};

const builders = { "comparison-curves": comparisonCurves };
