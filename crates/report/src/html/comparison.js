// The chart of a comparison: latency curves of all runs in one plot.
"use strict";
const comparison = JSON.parse(document.getElementById("comparison").textContent);

const comparisonCurves = (place) => {
  const drawn = comparison.runs.filter((run) => run.curve.length > 1);
  return curvesPlot(place, drawn.map((run, i) => ({ label: run.name, points: percentilePoints(run.curve), look: looks(i) })));
};

const builders = { "comparison-curves": comparisonCurves };
