// The charts that only a simulated model has; charts.js calls them.
"use strict";
const mostDrawn = 8;
const modelParts = () => summary.simulation.parts;

const modelOverTime = (place) => {
  const parts = modelParts().filter((part) => part.series.length > 1).slice(0, mostDrawn);
  const narrow = widthOf(place) < 600;
  const size = narrow ? 54 : 66;
  const times = parts.flatMap((part) => part.series.map((point) => point.at_s));
  const from = Math.min(...times), end = Math.max(...times);
  const x = { time: false, range: (u, low, high) => (low === high ? [from - 1, end + 1] : [low, high]) };
  const seconds = { label: "time", value: (u, v) => (v == null ? "-" : v.toFixed(1) + " s") };
  const percent = (u, v) => (v == null ? "-" : share(100 * v));
  const number = (u, v) => (v == null ? "-" : digits(v));
  const lines = (name, label, value, dash, wanted) =>
    parts.flatMap((part, i) => {
      if (!part.series.some(wanted)) return [];
      const table = [part.series.map((point) => point.at_s), part.series.map((point) => point[name])];
      return [{ table, series: { label: part.name + label, stroke: lineColour(i), width: 1.6, dash, spanGaps: true, points: { show: false }, value } }];
    });
  const plot = (lines, height, extra) =>
    lines.length === 0 ? [] : [new uPlot(options(place, height, {
      cursor: { drag: { x: true, y: false }, sync: { key: "over-time" }, points: { size: 6 } },
      series: [seconds, ...lines.map((line) => line.series)],
      hooks: { drawClear: [timeMarks(false)] },
      ...extra,
    }), uPlot.join(lines.map((line) => line.table)), place)];
  const shares = [
    ...lines("utilisation", "", percent, undefined, (point) => point.utilisation != null),
    ...lines("up", ", up", percent, [6, 4], (point) => point.up != null && point.up < 1),
  ];
  const numbers = lines("number", "", number, undefined, () => true);
  // Parts of which one holds a thousand requests and another one share an axis only if it is logarithmic.
  const means = parts.map((part) => part.number).filter((n) => n > 0);
  const logarithmic = means.length > 1 && Math.max(...means) / Math.min(...means) > 20;
  if (logarithmic) for (const line of numbers) line.table[1] = line.table[1].map(positive);
  const y = logarithmic ? { distr: 3, range: logRange(1e-9) } : { range: (u, low, high) => [0, (high || 1) * 1.08] };
  return [
    ...plot(shares, narrow ? 190 : 210, {
      scales: { x, y: { range: () => [0, 1.05] } },
      axes: [axis({ values: (u, splits) => splits.map(() => ""), size: 10 }), axis({ values: (u, splits) => splits.map((v) => Math.round(100 * v) + " %"), size })],
    }),
    ...plot(numbers, narrow ? 200 : 240, {
      scales: { x, y },
      axes: [axis({ label: "seconds since the plan's zero", size: 32 }), axis({ values: (u, splits) => splits.map((v) => (v == null ? "" : axisCount(v))), size })],
    }),
  ];
};

const modelByCopy = (place) => {
  const narrow = widthOf(place) < 600;
  const parts = modelParts().filter((part) => part.by_copy.length > 1).slice(0, mostDrawn);
  return parts.map((part, i) => {
    const served = part.by_copy.every((copy) => copy.utilisation != null);
    const values = part.by_copy.map((copy) => (served ? copy.utilisation : copy.requests));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const shown = (u, v) => (v == null ? "-" : served ? share(100 * v) : digits(v));
    const colour = lineColour(modelParts().indexOf(part));
    const bars = uPlot.paths.bars({ size: [values.length > 100 ? 1 : 0.8, 60], gap: 0 });
    return new uPlot(options(place, narrow ? 160 : 180, {
      scales: { x: { time: false, range: () => [0.4, values.length + 0.6] }, y: { range: (u, low, high) => [0, Math.max(high, 1e-9) * 1.1] } },
      series: [
        { label: "copy", value: (u, v) => (v == null ? "-" : String(v)) },
        { label: part.name + (served ? ", utilisation" : ", requests"), stroke: colour, fill: faded(colour, 0.35), width: 1, paths: bars, points: { show: false }, value: shown },
        { label: "mean", stroke: style("--three"), width: 1.4, dash: [6, 4], points: { show: false }, value: shown },
      ],
      axes: [
        axis({ label: i === parts.length - 1 ? "copy" : undefined, size: 32, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }),
        axis({ values: (u, splits) => splits.map((v) => (served ? Number((100 * v).toPrecision(3)) + " %" : axisCount(v))), size: narrow ? 54 : 66 }),
      ],
    }), [values.map((_, k) => k + 1), values, values.map(() => mean)], place);
  });
};
