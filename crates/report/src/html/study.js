// The charts of a study: latency curves of all points in one plot, and response times along a swept parameter.
"use strict";
const study = JSON.parse(document.getElementById("study").textContent);
const layout = JSON.parse(document.getElementById("layout").textContent);
// A run's response times, where the page shows some.
const beside = study.beside?.runs[0];

const studyCurves = (place) => {
  const lines = layout.curves.map((i, k) => ({ label: layout.labels[i], points: study.points[i].curve, look: looks(k) }));
  if (beside && beside.curve.length > 1) {
    lines.push({ label: beside.name, points: percentilePoints(beside.curve), look: { stroke: style("--ink"), dash: [2, 4] } });
  }
  return curvesPlot(place, lines);
};

// Bars from the lower to the upper end of the intervals; the series are in the order of the rows.
const intervalBars = (xs, rows) => (u) => {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.5 * uPlot.pxRatio;
  const cap = 4 * uPlot.pxRatio;
  const bottom = u.scales.y.min;
  rows.forEach((row, i) => {
    if (!u.series[i + 1].show) return;
    ctx.strokeStyle = u.series[i + 1].stroke(u, i + 1);
    row.intervals.forEach((interval, k) => {
      if (!interval) return;
      const x = u.valToPos(xs[k], "x", true);
      const ends = interval.map((v) => u.valToPos(Math.max(v, bottom), "y", true));
      ctx.beginPath();
      ctx.moveTo(x, ends[0]);
      ctx.lineTo(x, ends[1]);
      for (const end of ends) {
        ctx.moveTo(x - cap, end);
        ctx.lineTo(x + cap, end);
      }
      ctx.stroke();
    });
  });
  ctx.restore();
};

// A name shortened to a width in pixels; the table has the whole name.
const shortened = (name, room) => {
  const most = Math.max(3, Math.floor(room / 8));
  return name.length > most ? name.slice(0, most - 1) + "\u2026" : name;
};

const studySweep = (place) => {
  const { x: xs, values, numeric, times, lines, name, failed } = layout.sweep;
  const narrow = widthOf(place) < 600;
  const size = narrow ? 54 : 66;
  const first = xs[0], last = xs[xs.length - 1];
  const edge = numeric ? (last - first || Math.abs(last) || 1) * 0.03 : 0.5;
  const along = (v) => (v == null ? "-" : numeric ? (times ? time(v) : digits(v)) : values[v - 1] ?? "");
  const row = (line, label, look, of) => ({
    label,
    look,
    means: line.points.map((i) => (i == null ? null : of(study.points[i])?.mean ?? null)),
    intervals: line.points.map((i) => (i == null ? null : of(study.points[i])?.ci95 ?? null)),
  });
  const plot = (rows, title, shown, axisShown, bottom) => {
    const kept = rows.filter((row) => row.means.some((v) => v != null));
    if (kept.length === 0) return [];
    const all = kept.flatMap((row) => row.means).filter((v) => v > 0);
    const logarithmic = bottom == null && all.length > 0 && Math.max(...all) / Math.min(...all) > 20;
    const high = Math.max(...kept.flatMap((row) => [...row.means, ...row.intervals.flatMap((i) => i || [])]).filter((v) => v != null), 1e-12);
    const y = logarithmic ? { distr: 3, range: () => logRange(1e-9)(null, Math.min(...all), high) } : { range: () => [0, high * 1.08] };
    const joined = numeric ? {} : { width: 0 };
    return [new uPlot(options(place, narrow ? 220 : 250, {
      scales: { x: { time: false, range: () => [first - edge, last + edge] }, y },
      cursor: { drag: { x: true, y: false }, sync: { key: "sweep" }, points: { size: 6 } },
      series: [
        { label: name, value: (u, v) => along(v) },
        ...kept.map((row) => ({ label: row.label, width: 1.8, points: { show: true, size: 7, fill: row.look.stroke }, value: shown, ...row.look, ...joined })),
      ],
      axes: [
        axis(numeric
          ? { label: name, size: 32, values: (u, found) => found.map((v) => (times ? axisTime(v) : axisCount(Number(v.toPrecision(6))))) }
          : { label: name, size: 32, splits: () => xs, values: (u, found) => found.map((v) => shortened(values[v - 1] ?? "", u.bbox.width / uPlot.pxRatio / xs.length)) }),
        axis({ label: title, values: (u, found) => found.map(axisShown), size }),
      ],
      hooks: { draw: [intervalBars(xs, kept)] },
    }), [xs, ...kept.map((row) => (logarithmic ? row.means.map(positive) : row.means))], place)];
  };
  const seconds = (u, v) => time(v);
  const of = (number) => (point) => point.response[number];
  const shares = () => failed
    ? plot(lines.map((line, i) => row(line, line.label || "failed", looks(i), (point) => point.failed)), "failed", (u, v) => (v == null ? "-" : share(100 * v)), (v) => Number((100 * v).toPrecision(3)) + " %", 0)
    : [];
  if (lines.length === 1) {
    const rows = ["mean", "p50", "p99"].map((number, i) => row(lines[0], number, looks(i), of(number)));
    return [...plot(rows, "response time", seconds, axisTime), ...shares()];
  }
  const plots = ["mean", "p50", "p99"].flatMap((number) =>
    plot(lines.map((line, i) => row(line, line.label, looks(i), of(number))), number, seconds, axisTime));
  return [...plots, ...shares()];
};

const builders = { "study-curves": studyCurves, "study-sweep": studySweep };
