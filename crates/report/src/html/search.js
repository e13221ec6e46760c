// The chart of a search: percentiles of the response time, and goodput, against the offered rate.
"use strict";
const search = JSON.parse(document.getElementById("search").textContent);

const searchCurve = (place) => {
  const rows = search.trials.filter((row) => row.response.length > 0).sort((a, b) => a.rate - b.rate);
  const xs = [...new Set(rows.map((row) => row.rate))];
  // Of several trials at one rate, the one in the middle.
  const middle = (values) => values.sort((a, b) => (a.at ?? a) - (b.at ?? b))[values.length >> 1];
  const at = (of) => xs.map((x) => middle(rows.filter((row) => row.rate === x).map(of).filter((v) => v != null)) ?? null);
  const narrow = widthOf(place) < 600;
  const [low, high] = search.interval;
  const shade = (u) => {
    if (low == null && high == null) return;
    // An end that is not known is that of the picture.
    const [from, to] = [low ?? first / 1.1, high ?? last * 1.1].map((x) => u.valToPos(x, "x", true));
    u.ctx.save();
    u.ctx.fillStyle = faded(style("--four"), 0.25);
    u.ctx.fillRect(from, u.bbox.top, Math.max(1, to - from), u.bbox.height);
    u.ctx.restore();
  };
  const first = xs[0], last = xs[xs.length - 1];
  const x = { time: false, distr: 3, range: () => [first / 1.1, last * 1.1] };
  const size = narrow ? 54 : 66;
  const users = search.rate_of === "users";
  const rate = (v) => (v == null ? "-" : digits(v) + "/s");
  const plot = (lines, y, label, shown, axisShown, draw) => new uPlot(options(place, narrow ? 240 : 300, {
    scales: { x, y },
    cursor: { drag: { x: true, y: false }, sync: { key: "search" }, points: { size: 6 } },
    series: [
      users ? { label: "users", value: (u, v) => v ?? "-" } : { label: "offered", value: (u, v) => rate(v) },
      ...lines.map((line, i) => ({ label: line.label, width: 1.8, spanGaps: true, stroke: lineColour(i), points: { show: true, size: 7 }, value: shown })),
    ],
    axes: [
      axis({ label: users ? "users" : "offered rate, per second", size: 32, values: (u, found) => found.map((v) => (v == null ? "" : axisCount(v))) }),
      axis({ label, values: (u, found) => found.map(axisShown), size }),
    ],
    hooks: { drawClear: [shade], draw },
  }), [xs, ...lines.map((line) => line.values)], place);
  const percents = JSON.parse(document.getElementById("percentiles").textContent);
  const times = percents.map((percent) => ({
    label: "p" + percent,
    found: at((row) => {
      const p = row.response.find((p) => p.percent === percent);
      return p && { at: p.value, interval: p.ci95 };
    }),
  })).map((line) => ({
    label: line.label,
    values: line.found.map((p) => p?.at),
    intervals: line.found.map((p) => p?.interval),
  })).filter((line) => line.values.some((v) => v > 0));
  const all = times.flatMap((line) => line.values).filter((v) => v > 0);
  const bars = (u) => {
    times.forEach((line, i) => {
      if (!u.series[i + 1].show) return;
      u.ctx.strokeStyle = lineColour(i);
      line.intervals.forEach((interval, k) => {
        if (!interval) return;
        const px = u.valToPos(xs[k], "x", true);
        u.ctx.beginPath();
        interval.forEach((v, end) => (end ? u.ctx.lineTo : u.ctx.moveTo).call(u.ctx, px, u.valToPos(v, "y", true)));
        u.ctx.stroke();
      });
    });
  };
  const plots = [];
  if (all.length > 0) {
    const y = { distr: 3, range: () => logRange(1e-9)(null, Math.min(...all), Math.max(...all)) };
    plots.push(plot(times, y, "response time", (u, v) => time(v), axisTime, [bars]));
  }
  const good = at((row) => row.goodput);
  if (good.some((v) => v != null)) {
    const top = Math.max(...good.filter((v) => v != null), 1e-9);
    plots.push(plot([{ label: "goodput", values: good }], { range: () => [0, top * 1.08] }, "goodput, per second", (u, v) => rate(v), axisCount, []));
  }
  return plots;
};

const builders = { "search-curve": searchCurve };
