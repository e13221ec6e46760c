// The charts. Each builder gets its place in the page and returns the plots that it made, so that they can be drawn
// anew when the colours or the width change; draw.js does both.
"use strict";
// What the charts are drawn of: the summary, what its findings mark, what status codes and kinds of failure are called, and the steps to
// draw.
let summary, marks, names, steps, generator, clock;
const take = (data) => {
  ({ summary, marks, names, steps } = data);
  generator = summary.generator || { stalls: [] };
  clock = summary.audit ? "seconds since the first start" : "seconds since the plan's zero";
};
// A report has it in the page. The live view takes it again and again.
if (document.getElementById("summary")) {
  const embedded = (id) => [id, JSON.parse(document.getElementById(id).textContent)];
  take(Object.fromEntries(["summary", "marks", "names", "steps"].map(embedded)));
}
let logTime = true;

// Below the seconds of an axis of the run the time of day, UTC, where that is known: what a log or a dashboard of the target goes by.
const atDay = (s) => {
  const zero = summary.audit ? NaN : Date.parse(summary.started_at);
  return Number.isFinite(zero) ? new Date(zero + 1000 * s).toISOString().slice(11, 19) : null;
};
const clockAxis = (narrow) => {
  const known = atDay(0) != null;
  const label = known ? (narrow ? "seconds; time of day, UTC" : clock + "; below, the time of day (UTC)") : clock;
  const values = (u, splits) => splits.map((s) => (s == null ? "" : known ? axisCount(s) + "\n" + atDay(s) : axisCount(s)));
  return axis({ label, size: known ? 46 : 32, space: known ? 72 : 50, values });
};

// Shades the warm-up and the findings' times behind a plot over time. What took less than a hundredth of what is shown is a tick at the
// top edge of the upper plot, and not shaded: dozens of stripes hide what they are to explain. The upper plot numbers the findings and
// has a tick for each stall, too; the charts further down have the warm-up alone.
const timeMarks = (numbered, findings = numbered) => (u) => {
  const { ctx, bbox } = u;
  const ratio = uPlot.pxRatio;
  const x = (s) => u.valToPos(s, "x", true);
  const low = u.scales.x.min, high = u.scales.x.max;
  const shade = (from, to, fill) => {
    const left = x(Math.max(from, low));
    const width = Math.max(2 * ratio, x(Math.min(to, high)) - left);
    ctx.fillStyle = fill;
    ctx.fillRect(left, bbox.top, width, bbox.height);
    return left + width / 2;
  };
  ctx.save();
  const warm = summary.measured.from_s;
  if (warm > low) {
    shade(low, warm, faded(style("--three"), 0.1));
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, x(Math.min(warm, high)) - bbox.left, bbox.height);
    ctx.save();
    ctx.clip();
    ctx.beginPath();
    for (let d = -bbox.height; d < bbox.width; d += 9 * ratio) {
      ctx.moveTo(bbox.left + d, bbox.top + bbox.height);
      ctx.lineTo(bbox.left + d + bbox.height, bbox.top);
    }
    ctx.strokeStyle = faded(style("--three"), 0.3);
    ctx.lineWidth = ratio;
    ctx.stroke();
    ctx.restore();
  }
  const taken = [];
  ctx.font = "600 " + 11 * ratio + "px system-ui, sans-serif";
  ctx.textAlign = "center";
  for (const mark of findings ? marks : []) {
    const colour = style(mark.severity === "error" ? "--bad" : mark.severity === "warning" ? "--warn" : "--one");
    const shown = mark.at.filter(([from, to]) => to >= low && from <= high);
    const length = ([from, to]) => Math.min(to, high) - Math.max(from, low);
    const long = shown.filter((of) => length(of) >= (high - low) / 100);
    const middles = long.map(([from, to]) => shade(from, to, faded(colour, 0.13)));
    if (!numbered) continue;
    ctx.fillStyle = colour;
    for (const [from, to] of shown) {
      if (long.length === 0 || length([from, to]) < (high - low) / 100) {
        ctx.fillRect(x((Math.max(from, low) + Math.min(to, high)) / 2) - ratio / 2, bbox.top, ratio, 5 * ratio);
      }
    }
    // What was never long has its number once.
    if (long.length === 0 && shown.length > 0) middles.push(x((Math.max(shown[0][0], low) + Math.min(shown[0][1], high)) / 2));
    // Numbers of findings that overlap stand below each other; where there is no room a finding keeps its shade.
    for (const middle of middles) {
      const half = (ctx.measureText(String(mark.number)).width / 2) + 2 * ratio;
      const free = (row) => !taken.some((of) => of.row === row && middle - half < of.to && middle + half > of.from);
      const row = [1, 2, 3, 4].find(free);
      if (!row || taken.some((of) => of.number === mark.number && Math.abs(of.to + of.from - 2 * middle) < 4 * half)) continue;
      taken.push({ row, number: mark.number, from: middle - half, to: middle + half });
      ctx.fillText(String(mark.number), middle, bbox.top + (8 + 12 * row) * ratio);
    }
  }
  if (numbered) {
    ctx.fillStyle = style("--bad");
    for (const stall of generator.stalls) {
      if (stall.at_s < low || stall.at_s > high) continue;
      ctx.fillRect(x(stall.at_s) - ratio, bbox.top, 2 * ratio, 7 * ratio);
    }
  }
  ctx.restore();
};

// The middle of a row, to the digits that its length calls for.
const timeOf = (rows) =>
  ({ label: "time", value: (u, v) => (v == null ? "-" : v.toFixed(rows[0]?.to_s - rows[0]?.from_s < 0.9 ? 2 : 1) + " s") });
// All requests, or those of the step that is chosen: of a step the medians and 99th percentiles alone are known.
const shownRows = () => {
  if (step == null) return summary.series;
  return (summary.by_label[step]?.series || []).map((row) => ({ ...row, started: null, completed: null }));
};
const overTime = (place) => {
  const rows = shownRows();
  const xs = rows.map((row) => (row.from_s + row.to_s) / 2);
  const column = (name) => rows.map((row) => (logTime ? positive(row[name]) : row[name] ?? null));
  const end = rows.length ? rows[rows.length - 1].to_s : 1;
  const scaleX = { time: false, range: (u, low, high) => (low === high ? [rows[0]?.from_s ?? 0, end] : [low, high]) };
  const line = (label, colour, width, extra) =>
    ({ label, stroke: style(colour), width, points: { show: rows.length < 4 }, ...extra });
  const narrow = widthOf(place) < 600;
  const size = narrow ? 60 : 66;
  const seconds = timeOf(rows);
  const plot = (height, y, lines, short, last, marked, space) => new uPlot(options(place, height + (last ? 40 : 0), {
    scales: { x: scaleX, y },
    cursor: { drag: { x: true, y: false }, sync: { key: "over-time" }, points: { size: 6 } },
    series: [seconds, ...lines.map(([line]) => line)],
    axes: [last ? clockAxis(narrow) : axis({ values: (u, splits) => splits.map(() => ""), size: 10 }), axis({ values: (u, splits) => splits.map(short), size, ...space })],
    hooks: { drawClear: [marked] },
  }), [xs, ...lines.map(([, column]) => column)], place);
  const value = (u, v) => time(v);
  const times = [["max", "--three", 1], ["p99", "--two", 1.6], ["p90", "--five", 1.2], ["p50", "--one", 1.8]]
    .filter(([name]) => step == null || rows.some((row) => row[name] != null))
    .map(([name, colour, width]) => [line(name, colour, width, { value }), column(name)]);
  const fromZero = { range: (u, low, high) => [0, (high || 1) * 1.08] };
  const rate = (u, v) => (v == null ? "-" : digits(v) + "/s");
  const per = (label, of, colour, extra) => [line(label, colour, 1.4, { value: rate, ...extra }), rows.map((row) => perSecond(row, of(row)))];
  const fill = { fill: faded(style("--one"), 0.12) };
  const rates = step == null
    ? [per("started", (row) => row.started, "--one", fill), per("completed", (row) => row.completed, "--four")]
    : [per("due and ended", (row) => row.n, "--one", fill)];
  // Few failures beside many requests would be a line along the bottom.
  const failed = rows.some((row) => row.failed > 0);
  const perAxis = (v) => axisCount(v) + "/s";
  const above = logTime ? { distr: 3, range: logRange(1e-9) } : { range: (u, low, high) => [0, (high || 1) * 1.05] };
  const plots = [
    plot(narrow ? 240 : 290, above, times, axisTime, false, timeMarks(true)),
    plot(narrow ? 110 : 120, fromZero, rates, perAxis, !failed, timeMarks(false, true)),
  ];
  if (failed) plots.push(plot(narrow ? 80 : 84, fromZero, [per("failed", (row) => row.failed, "--bad", { fill: faded(style("--bad"), 0.15) })], perAxis, true, timeMarks(false, true), { space: 16 }));
  return plots;
};

// Lines over the run: each with its label, colour and value in every row; `show` is for the legend, `short` for the axis.
const linesOverRun = (place, lines, show, short, extra, more) => {
  const rows = summary.series;
  const end = rows[rows.length - 1].to_s;
  const narrow = widthOf(place) < 600;
  const value = (u, v) => (v == null ? "-" : show(v));
  const series = lines.map(({ label, colour, extra }) =>
    ({ label, stroke: colour, width: 1.6, points: { show: rows.length < 4 }, value, ...extra }));
  return [new uPlot(options(place, narrow ? 190 : 220, {
    scales: { x: { time: false, range: (u, low, high) => (low === high ? [rows[0].from_s, end] : [low, high]) }, y: { range: (u, low, high) => [0, (high || 1) * 1.08] } },
    cursor: { drag: { x: true, y: false }, sync: { key: "over-time" }, points: { size: 6 } },
    series: [timeOf(rows), ...series],
    axes: [clockAxis(narrow), axis({ values: (u, splits) => splits.map(short), size: narrow ? 60 : 66, ...extra })],
    hooks: { drawClear: [timeMarks(false)] },
    ...more,
  }), [rows.map((row) => (row.from_s + row.to_s) / 2), ...lines.map((line) => rows.map(line.of))], place)];
};

// Who was there, what was in flight, and what waited for a connection.
const inFlight = (place) => {
  const line = (name, label, colour, extra) => ({ label, colour: style(colour), of: (row) => row[name], extra });
  const lines = [
    line("users", summary.workload === "sessions" ? "sessions and users" : "users", "--one", { fill: faded(style("--one"), 0.1) }),
    line("in_flight", "in flight", "--two"),
    line("waiting", "waiting", "--three", { dash: [6, 4] }),
  ];
  return linesOverRun(place, lines.filter(({ of }) => summary.series.some((row) => of(row) > 0)), digits, axisCount);
};

const perSecond = (row, n) => n / Math.max(row.to_s - row.from_s, 1e-9);
// Counts by name, each as a line of how many came per second. Colours go by the name where it has a meaning of its own.
const countsOverRun = (counts, colours) => (place) => {
  const keys = [...new Set(summary.series.flatMap((row) => Object.keys(counts(row))))].sort();
  const lines = keys.map((key, i) =>
    ({ label: shortName(names[key] ?? key), colour: (colours || lineColour)(i, key), of: (row) => perSecond(row, counts(row)[key] || 0) }));
  return linesOverRun(place, lines, (v) => digits(v) + "/s", (v) => axisCount(v) + "/s");
};
const statuses = countsOverRun((row) => row.statuses || {});
const failures = countsOverRun((row) => row.failure_kinds || row.failures || {});

// The mean response time as a stack of its parts, each above those before it.
const splitOverTime = (place) => {
  const rows = summary.series;
  const parts = [
    ["lag", "send lag", "--three"], ["wait", "wait for a connection", "--five"], ["connect", "connect", "--four"],
    ["tls", "TLS handshake", "--six"], ["first_byte", "first byte", "--one"], ["receive", "receive", "--two"],
  ].filter(([key]) => rows.some((row) => row.time_split?.[key] > 0)).reverse();
  if (parts.length === 0) parts.push(["first_byte", "first byte", "--one"]);
  // Each line is the sum of its part and all below it.
  const lines = parts.map(([, label, colour], i) => ({
    label,
    colour: style(colour),
    of: (row) => (row.time_split ? parts.slice(i).reduce((sum, [key]) => sum + row.time_split[key], 0) : null),
    extra: {
      width: 1,
      fill: i === parts.length - 1 ? faded(style(colour), 0.45) : undefined,
      value: (u, v, line, at) => (at == null ? "-" : time(rows[at].time_split?.[parts[i][0]])),
    },
  }));
  const bands = lines.slice(1).map((_, i) => ({ series: [i + 1, i + 2], fill: faded(lines[i].colour, 0.45) }));
  return linesOverRun(place, lines, time, axisTime, {}, { bands });
};

// Steps above each other in three plots: median, 99th percentile, and failures where there are some.
const stepsOverTime = (place) => {
  // All that are drawn, or the one that is chosen.
  const chosen = steps.includes(step) ? [step] : steps;
  const labels = chosen.map((name) => ({ name, rows: summary.by_label[name].series }));
  const longest = labels.map(({ rows }) => rows).reduce((a, b) => (b.length > a.length ? b : a));
  const xs = longest.map((row) => (row.from_s + row.to_s) / 2);
  const end = longest[longest.length - 1].to_s;
  const narrow = widthOf(place) < 600;
  const size = narrow ? 60 : 66;
  const plot = (of, title, show, short, log, last) => {
    const columns = labels.map(({ rows }) => xs.map((_, i) => (rows[i] ? of(rows[i]) : null)));
    const values = columns.flat().filter((v) => v > 0);
    const logarithmic = log && values.length > 0 && values.reduce((a, b) => Math.max(a, b)) > 20 * values.reduce((a, b) => Math.min(a, b));
    const line = ({ name }) => ({
      label: shortName(name), stroke: lineColour(steps.indexOf(name)), width: 1.6, points: { show: xs.length < 4 }, value: (u, v) => (v == null ? "-" : show(v)),
    });
    return new uPlot(options(place, (narrow ? 150 : 160) + (last ? 40 : 0), {
      title,
      scales: {
        x: { time: false, range: (u, low, high) => (low === high ? [longest[0].from_s, end] : [low, high]) },
        y: logarithmic ? { distr: 3, range: logRange(1e-9) } : { range: (u, low, high) => [0, (high || 1) * 1.08] },
      },
      cursor: { drag: { x: true, y: false }, sync: { key: "over-time" }, points: { size: 6 } },
      series: [timeOf(longest), ...labels.map(line)],
      axes: [
        last ? clockAxis(narrow) : axis({ values: (u, splits) => splits.map(() => ""), size: 10 }),
        axis({ values: (u, splits) => splits.map(short), size }),
      ],
      hooks: { drawClear: [timeMarks(false)] },
    }), [xs, ...columns.map((column) => (logarithmic ? column.map(positive) : column))], place);
  };
  const failed = labels.some(({ rows }) => rows.some((row) => row.failed > 0));
  return [
    plot((row) => row.p50, "p50", time, axisTime, true, false),
    plot((row) => row.p99, "p99", time, axisTime, true, !failed),
    ...(failed ? [plot((row) => perSecond(row, row.failed), "failed", (v) => digits(v) + "/s", (v) => axisCount(v) + "/s", false, true)] : []),
  ];
};

const bytesOverRun = (place) => {
  const line = { label: "received", colour: style("--one"), of: (row) => perSecond(row, row.bytes_received || 0), extra: { fill: faded(style("--one"), 0.12) } };
  // Steps that are round in KiB and MiB.
  const incrs = Array.from({ length: 50 }, (_, i) => 2 ** i);
  return linesOverRun(place, [line], (v) => size(v) + "/s", axisSize, { incrs, size: 66 });
};

// Twenty bars to a tenfold; they stand on the edges of the bins.
const histogram = (place) => {
  const bins = summary.curves.response_histogram;
  const step = 1.122;
  const from = (bin) => Math.max(bin.from, (bin.to || bin.from * step) / step), to = (bin) => bin.to || bin.from * step;
  const narrow = widthOf(place) < 600;
  const ends = [from(bins[0]) / step, to(bins[bins.length - 1]) * step];
  const bars = (u) => {
    const { ctx } = u;
    ctx.save();
    ctx.fillStyle = faded(style("--one"), 0.55);
    const floor = u.valToPos(0, "y", true), gap = uPlot.pxRatio;
    for (const bin of bins) {
      if (!bin.n) continue;
      const left = u.valToPos(from(bin), "x", true), right = u.valToPos(to(bin), "x", true);
      const top = Math.min(u.valToPos(bin.n, "y", true), floor - gap);
      ctx.fillRect(left, top, Math.max(right - left - gap, gap), floor - top);
    }
    ctx.strokeStyle = style("--bad");
    ctx.lineWidth = 1.4 * gap;
    ctx.setLineDash([5 * gap, 4 * gap]);
    for (const { metric, step: of, unit, operator, limit } of summary.thresholds || []) {
      if (metric !== "response" || of != null || unit !== "s" || !operator.startsWith("<") || limit <= ends[0] || limit >= ends[1]) continue;
      const at = u.valToPos(limit, "x", true);
      ctx.beginPath();
      ctx.moveTo(at, u.bbox.top);
      ctx.lineTo(at, floor);
      ctx.stroke();
    }
    ctx.restore();
  };
  return [new uPlot(options(place, narrow ? 220 : 260, {
    scales: { x: { time: false, distr: 3, range: () => ends }, y: { range: (u, low, high) => [0, (high || 1) * 1.08] } },
    series: [
      { label: "up to", value: (u, v) => time(v) },
      { label: "requests", stroke: style("--one"), width: 0, points: { show: false }, value: (u, v) => (v == null ? "-" : axisCount(v)) },
    ],
    axes: [axis({ label: "response time", size: 32, values: (u, splits) => splits.map(axisTime) }), axis({ values: (u, splits) => splits.map(axisCount), size: narrow ? 60 : 66 })],
    hooks: { draw: [bars] },
  }), [bins.map(to), bins.map((bin) => bin.n)], place)];
};

// Which share of requests is slower, on a logarithmic axis: each further nine takes the same room.
const percentiles = (place) => {
  const side = (p) => 1 / (1 - p / 100);
  const curve = (points, bound) => {
    const kept = points.filter((point) => point.percentile < 100 && point.value > 0);
    const values = kept.map((point, i) => {
      // The last exact point begins the dashed line too, so that no gap opens between the two.
      const joins = bound && i + 1 < kept.length && kept[i + 1].lower_bound;
      return point.lower_bound === bound || joins ? point.value : null;
    });
    return [kept.map((point) => side(point.percentile)), values];
  };
  const { response, service } = summary.curves.percentiles;
  // Of a foreign file both are the same.
  const served = !summary.audit;
  const bounded = response.some((point) => point.lower_bound);
  const kept = [
    served && curve(service, false), curve(response, false), bounded && curve(response, true),
  ];
  const data = uPlot.join(kept.filter(Boolean));
  const value = (u, v) => time(v);
  const last = data[0][data[0].length - 1] || 10;
  const splits = [2, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((x) => x <= last * 1.001);
  const narrow = widthOf(place) < 600;
  const series = [
    { label: "percentile", value: (u, v) => (v == null ? "-" : share(100 * (1 - 1 / v))) },
  ];
  const curved = (label, colour, extra) => series.push({ label, stroke: style(colour), width: 2, spanGaps: true, points: { show: false }, value, ...extra });
  if (served) curved("service", "--one");
  curved("response", "--two");
  if (bounded) curved("response, at least", "--two", { dash: [6, 5] });
  return [new uPlot(options(place, narrow ? 260 : 340, {
    scales: { x: { time: false, distr: 3, range: () => [1, Math.max(last, 10)] }, y: { distr: 3, range: logRange(1e-9) } },
    series,
    bands: served ? [{ series: [2, 1], fill: faded(style("--two"), 0.1) }] : [],
    axes: [
      axis({ splits: () => splits, filter: (u, found) => found, values: (u, found) => found.map((x) => share(100 * (1 - 1 / x))), label: "share of requests at most this slow", size: 32, space: 30 }),
      axis({ values: (u, found) => found.map(axisTime), size: narrow ? 60 : 66 }),
    ],
  }), data, place)];
};

const headways = (place) => {
  const { bins } = summary.curves.headway;
  const end = bins[bins.length - 1].to;
  const middle = bins.map((bin) => (bin.from + bin.to) / 2);
  const top = Math.max(2, ...bins.map((bin) => Math.max(bin.observed, bin.expected)));
  const whole = (u, v) => (v == null ? "0" : digits(v));
  return [new uPlot(options(place, 300, {
    scales: { x: { time: false, range: () => [0, end] }, y: { distr: 3, range: () => [0.5, top * 1.6] } },
    series: [
      { label: "mean headways", value: (u, v) => (v == null ? "-" : v.toFixed(2)) },
      { label: "observed", stroke: style("--one"), fill: faded(style("--one"), 0.35), width: 1, paths: uPlot.paths.bars({ size: [1, Infinity], gap: 1 }), points: { show: false }, value: whole },
      { label: "expected", stroke: style("--two"), width: 2, points: { show: bins.filter((bin) => bin.expected >= 0.5).length < 3, size: 8 }, value: whole },
    ],
    axes: [axis({ label: "headway / mean headway", size: 32 }), axis({ values: (u, splits) => splits.map((v) => (v >= 1 ? axisCount(v) : "")), size: 66 })],
  }), [middle, bins.map((bin) => positive(bin.observed)), bins.map((bin) => (bin.expected >= 0.5 ? bin.expected : null))], place)];
};

const dispersion = (place) => {
  const rows = [...summary.arrivals.dispersion].sort((a, b) => a.window - b.window);
  // The standard error is that of an index of 1; that of another index grows with it.
  const reach = (row) => 2 * row.se * Math.max(row.index, 0);
  const all = rows.flatMap((row) => [row.index + reach(row), row.index - reach(row), row.expected, row.intended ?? row.expected]);
  const low = Math.min(...all.filter((v) => v > 0)), high = Math.max(...all, 1.2);
  const logarithmic = high / Math.max(low, 1e-3) > 12 && high > 3;
  const floor = logarithmic ? Math.min(0.5, Math.max(low / 1.3, 1e-3)) : 0;
  const bars = (u) => {
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = style("--one");
    ctx.lineWidth = 1.5 * uPlot.pxRatio;
    const cap = 5 * uPlot.pxRatio;
    for (const row of rows) {
      const x = u.valToPos(row.window, "x", true);
      const y = (v) => u.valToPos(Math.max(v, floor), "y", true);
      const top = y(row.index + reach(row)), bottom = y(row.index - reach(row));
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, bottom);
      for (const end of [top, bottom]) {
        ctx.moveTo(x - cap, end);
        ctx.lineTo(x + cap, end);
      }
      ctx.stroke();
    }
    ctx.restore();
  };
  const value = (u, v) => (v == null ? "-" : digits(v));
  const windows = rows.map((row) => row.window);
  const planned = rows.some((row) => row.intended != null);
  return [new uPlot(options(place, 300, {
    scales: {
      x: { time: false, distr: 3, range: () => [windows[0] / 2.5, windows[windows.length - 1] * 2.5] },
      y: logarithmic ? { distr: 3, range: () => [floor, high * 1.5] } : { range: () => [0, high * 1.1] },
    },
    series: [
      { label: "window", value: (u, v) => time(v) },
      { label: "expected", stroke: style("--two"), width: 1.6, dash: [7, 5], points: { show: rows.length < 2 }, value },
      ...(planned ? [{ label: "intended", stroke: style("--three"), width: 0, points: { show: true, size: 9, width: 1.5, fill: style("--paper") }, value }] : []),
      { label: "started", stroke: style("--one"), width: 0, points: { show: true, size: 8, fill: style("--one") }, value },
    ],
    axes: [axis({ label: "window", size: 32, values: (u, splits) => splits.map(axisTime) }), axis({ label: "index of dispersion", values: (u, splits) => splits.map((v) => (v == null ? "" : String(Number(v.toPrecision(3))))), size: 50 })],
    hooks: { draw: [bars] },
  }), [windows, rows.map((r) => r.expected), ...(planned ? [rows.map((r) => r.intended)] : []), rows.map((r) => (logarithmic ? positive(r.index) : r.index))], place)];
};

const builders = {
  "over-time": overTime, "in-flight": inFlight, statuses, "failures-over-time": failures, "split-over-time": splitOverTime,
  "steps-over-time": stepsOverTime, "heat-map": heatMap, throughput, bytes: bytesOverRun, histogram, percentiles, headways, dispersion,
};
// Of an audit's page; audit.js is absent on any other.
if (summary?.audit) Object.assign(builders, { counts, groups });
// Of a simulated model's; model.js is absent on any other.
if (summary?.simulation) Object.assign(builders, { "model-over-time": modelOverTime, "model-by-copy": modelByCopy });
