// The charts that only an audit has; charts.js calls them.
"use strict";
const counts = (place) => {
  const { bins } = summary.audit.counts;
  const xs = bins.map((bin) => bin.count);
  const last = xs[xs.length - 1];
  const width = xs.length > 1 ? xs[1] - xs[0] : 1;
  const whole = (u, v) => (v == null ? "0" : digits(v));
  const step = Math.max(1, Math.ceil((last + 1) / (widthOf(place) < 600 ? 8 : 20)));
  const name = (x) => (x === last ? x + " and more" : String(x));
  return [new uPlot(options(place, 300, {
    scales: { x: { time: false, range: () => [-width * 0.7, last + width * 0.7] }, y: { range: (u, low, high) => [0, Math.max(high, 1) * 1.08] } },
    series: [
      { label: "starts in an interval", value: (u, v) => (v == null ? "-" : name(v)) },
      { label: "observed", stroke: style("--one"), fill: faded(style("--one"), 0.35), width: 1, paths: uPlot.paths.bars({ size: [0.9, 80] }), points: { show: false }, value: whole },
      { label: "expected of Poisson counts", stroke: style("--two"), width: 2, points: { show: true, size: 7, fill: style("--two") }, value: whole },
    ],
    axes: [
      axis({ label: "starts in an interval", size: 32, splits: () => xs.filter((x) => x % step === 0), values: (u, found) => found.map(axisCount).map((name, i, all) => (name === all[i - 1] ? "" : name)) }),
      axis({ label: "intervals", values: (u, splits) => splits.map((v) => axisCount(v)), size: 66 }),
    ],
  }), [xs, bins.map((bin) => bin.observed), bins.map((bin) => bin.expected)], place)];
};

const groups = (place) => {
  const rows = summary.thread_groups.filter((row) => row.cov != null && row.users > 0).sort((a, b) => a.users - b.users);
  const reach = (row) => 2 * (row.cov_se ?? 0);
  const high = Math.max(1.1, ...rows.map((row) => row.cov + reach(row)));
  const xs = rows.map((row) => row.users);
  const bars = (u) => {
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = style("--one");
    ctx.lineWidth = 1.5 * uPlot.pxRatio;
    for (const row of rows) {
      const x = u.valToPos(row.users, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, u.valToPos(row.cov + reach(row), "y", true));
      ctx.lineTo(x, u.valToPos(Math.max(row.cov - reach(row), 0), "y", true));
      ctx.stroke();
    }
    ctx.restore();
  };
  const value = (u, v) => (v == null ? "-" : digits(v));
  return [new uPlot(options(place, 300, {
    scales: { x: { time: false, distr: 3, range: () => [xs[0] / 1.4, xs[xs.length - 1] * 1.4] }, y: { range: () => [0, high * 1.08] } },
    series: [
      { label: "users", value: (u, v) => (v == null ? "-" : v.toLocaleString("en-US")) },
      { label: "independent users", stroke: style("--two"), width: 1.6, dash: [7, 5], points: { show: rows.length < 2 }, value },
      { label: "CoV", stroke: style("--one"), width: 1.2, points: { show: true, size: 8, fill: style("--one") }, value },
    ],
    axes: [
      axis({ label: "first users together", size: 32, values: (u, splits) => splits.map((v) => (v == null ? "" : axisCount(v))) }),
      axis({ label: "CoV of headways", size: 50 }),
    ],
    hooks: { draw: [bars] },
  }), [xs, rows.map(() => 1), rows.map((row) => row.cov)], place)];
};
