// Response times over the run as a field of counts, and against the throughput.
"use strict";
// A field for each count: the more requests, the stronger, on a logarithmic scale, so that the few slow ones are seen beside the many.
const heatMap = (place) => {
  const { from_s, width_s, edges, counts } = summary.curves.response_grid;
  const low = edges[0] || edges[1] / 2, high = edges[edges.length - 1];
  const most = counts.reduce((all, column) => column.reduce((a, b) => Math.max(a, b), all), 1);
  const narrow = widthOf(place) < 600;
  const until = from_s + counts.length * width_s;
  const colour = style("--one");
  const strength = (n) => (most > 1 ? 0.14 + 0.86 * (Math.log(n) / Math.log(most)) : 0.7);
  const fields = (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const ys = edges.map((edge) => Math.round(u.valToPos(Math.max(edge, low), "y", true)));
    counts.forEach((column, i) => {
      const [left, right] = [from_s + i * width_s, from_s + (i + 1) * width_s].map((s) => Math.round(u.valToPos(s, "x", true)));
      if (right < bbox.left || left > bbox.left + bbox.width) return;
      column.forEach((n, k) => {
        if (!n) return;
        ctx.fillStyle = faded(colour, strength(n));
        ctx.fillRect(left, ys[k + 1], Math.max(right - left, 1), Math.max(ys[k] - ys[k + 1], 1));
      });
    });
    ctx.restore();
  };
  const at = (u) => {
    const seconds = u.cursor.top >= 0 ? u.posToVal(u.cursor.top, "y") : NaN;
    return edges.findLastIndex((edge) => edge <= seconds);
  };
  const shown = (k) => (k >= 0 && k < edges.length - 1 ? `${axisTime(edges[k])} to ${axisTime(edges[k + 1])}` : "-");
  const nothing = { paths: () => null, points: { show: false } };
  const middles = counts.map((_, i) => from_s + (i + 0.5) * width_s);
  const sums = counts.map((column) => column.reduce((a, b) => a + b, 0));
  return [new uPlot(options(place, narrow ? 260 : 320, {
    scales: { x: { time: false, range: (u, from, to) => (from === to ? [from_s, until] : [from, to]) }, y: { distr: 3, range: () => [low, high] } },
    cursor: { drag: { x: true, y: false }, sync: { key: "over-time" }, points: { show: false } },
    series: [
      { label: "time", value: (u, v) => (v == null ? "-" : `${Number((v - width_s / 2).toPrecision(6))} to ${Number((v + width_s / 2).toPrecision(6))} s`) },
      { label: "took", stroke: colour, ...nothing, value: (u, v, line, i) => (i == null ? "-" : shown(at(u))) },
      { label: "requests", stroke: colour, ...nothing, value: (u, v, line, i) => (i == null ? "-" : (counts[i][at(u)] ?? 0).toLocaleString("en-US")) },
      { label: "of", stroke: colour, ...nothing, value: (u, v) => (v == null ? "-" : v.toLocaleString("en-US")) },
    ],
    axes: [clockAxis(narrow), axis({ values: (u, splits) => splits.map(axisTime), size: narrow ? 60 : 66 })],
    hooks: { drawClear: [timeMarks(false)], drawAxes: [fields] },
  }), [middles, sums, sums, sums], place)];
};

// A point for each row of the measured phase: what the target completed per second, and how long requests due meanwhile took.
const throughput = (place) => {
  const rate = (row) => perSecond(row, row.completed);
  const rows = summary.series.filter((row) => row.p50 > 0 && row.from_s >= summary.measured.from_s && row.from_s < summary.measured.to_s && Number.isFinite(rate(row))).sort((a, b) => rate(a) - rate(b));
  const narrow = widthOf(place) < 600;
  const high = rows.reduce((a, row) => Math.max(a, rate(row)), 0) || 1, low = rows.reduce((a, row) => Math.min(a, rate(row)), Infinity);
  // From nothing where the rates are far apart; else what is left of them would be a line.
  const from = low < 0.6 * high ? 0 : low - 0.2 * (high - low);
  const points = (label, colour) => ({
    label, stroke: style(colour), paths: () => null, value: (u, v) => time(v),
    points: { show: true, size: 6, width: 0.5, stroke: faded(style(colour), 0.9), fill: faded(style(colour), 0.4) },
  });
  return [new uPlot(options(place, narrow ? 260 : 340, {
    scales: { x: { time: false, range: (u, min, max) => (min == null || (min <= low && max >= high) ? [from, high + 0.04 * (high - from || high)] : [min, max]) }, y: { distr: 3, range: logRange(1e-9) } },
    series: [{ label: "completed", value: (u, v) => (v == null ? "-" : digits(v) + "/s") }, points("p50", "--one"), points("p99", "--two")],
    axes: [
      axis({ label: "completed per second", size: 32, values: (u, splits) => splits.map(axisCount) }),
      axis({ label: "response time", values: (u, splits) => splits.map(axisTime), size: narrow ? 60 : 66 }),
    ],
  }), [rows.map(rate), rows.map((row) => positive(row.p50)), rows.map((row) => positive(row.p99))], place)];
};
