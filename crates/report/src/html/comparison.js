// The charts of a comparison: latency curves of all runs in one plot, and all runs over time.
"use strict";
const comparison = JSON.parse(document.getElementById("comparison").textContent);

const comparisonCurves = (place) => {
  const drawn = comparison.runs.filter((run) => run.curve.length > 1);
  return curvesPlot(place, drawn.map((run, i) => ({ label: run.name, points: percentilePoints(run.curve), look: looks(i) })));
};

// A plot for each number, a line for each run. Runs are drawn over each other by the seconds since their zero.
const comparisonOverTime = (place) => {
  const runs = comparison.runs.map((run, i) => ({ ...run, look: looks(i) })).filter((run) => (run.over_time || []).length > 1);
  const narrow = widthOf(place) < 600;
  const end = runs.reduce((all, { over_time: rows }) => Math.max(all, rows[rows.length - 1].to_s), 0);
  const plot = (title, of, show, short, height, times, last) => {
    const tables = runs.map(({ over_time: rows }) => [rows.map((row) => (row.from_s + row.to_s) / 2), rows.map((row) => (times ? positive(of(row)) : of(row)))]);
    const data = uPlot.join(tables);
    const values = data.slice(1).flat().filter((v) => v > 0);
    const logarithmic = times && values.length > 0 && values.reduce((a, b) => Math.max(a, b)) > 5 * values.reduce((a, b) => Math.min(a, b));
    const line = ({ name, look }) => ({ label: shortName(name), width: 1.6, spanGaps: true, points: { show: false }, value: (u, v) => (v == null ? "-" : show(v)), ...look });
    return new uPlot(options(place, height + (last ? 40 : 0), {
      title,
      scales: { x: { time: false, range: (u, low, high) => (low === high ? [0, end] : [low, high]) }, y: logarithmic ? { distr: 3, range: logRange(1e-9) } : { range: (u, low, high) => [0, (high || 1) * 1.08] } },
      cursor: { drag: { x: true, y: false }, sync: { key: "over-time" }, points: { size: 6 } },
      series: [{ label: "time", value: (u, v) => (v == null ? "-" : Number(v.toPrecision(4)) + " s") }, ...runs.map(line)],
      axes: [
        last ? axis({ label: "seconds since each run's zero", size: 32 }) : axis({ values: (u, splits) => splits.map(() => ""), size: 10 }),
        axis({ values: (u, splits) => splits.map(short), size: narrow ? 60 : 66 }),
      ],
    }), data, place);
  };
  const perSecond = (v) => digits(v) + "/s", perAxis = (v) => axisCount(v) + "/s";
  const failed = runs.some(({ over_time: rows }) => rows.some((row) => row.failed > 0));
  const [high, low] = narrow ? [180, 120] : [190, 130];
  return [
    plot("p99", (row) => row.p99, time, axisTime, high, true, false),
    plot("p50", (row) => row.p50, time, axisTime, high, true, false),
    plot("completed", (row) => row.completed, perSecond, perAxis, low, false, !failed),
    ...(failed ? [plot("failed", (row) => row.failed, perSecond, perAxis, low, false, true)] : []),
  ];
};

const builders = { "comparison-curves": comparisonCurves, "comparison-over-time": comparisonOverTime };
