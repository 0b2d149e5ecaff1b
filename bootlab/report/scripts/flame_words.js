// What a frame of the flame graph says of itself: exact figures, as [name, figure] lines.
"use strict";

function describeFrame(graph, node) {
  if (graph.tree.sides === 2) return describeBoth(graph, node);
  const { tree } = graph;
  const [figures] = graph.figures;
  const ns = tree.elapsed(figures, node);
  const lines = tree.timed ? [
    ["took", exactTime(ns)],
    ["of this, itself", exactTime(figures.waited[node])],
  ] : [
    ["instructions", formatCount(figures.allInstructions[node])],
    ["of these, itself", formatCount(figures.instructions[node])],
    [node ? "elapsed" : "elapsed, all tasks", exactTime(ns)],
    ["of these, not running", exactTime(figures.allWaited[node])],
  ];
  lines.push(["share", sharesOf(graph, node)]);
  if (figures.allIdled[node]) lines.push(["and without work", formatTime(figures.allIdled[node])]);
  if (figures.calls[node]) lines.push(["calls", formatCount(figures.calls[node])]);
  return lines;
}

function describeBoth(graph, node) {
  const [before, after] = graph.figures;
  const line = (name, value, write) => {
    const [one, other] = [value(before), value(after)];
    if (one === other) return [name, `${write(one)} in both`];
    const change = other - one;
    const sign = change > 0 ? "+" : "\u2212";
    const share = one ? `, ${sign}${((100 * Math.abs(change)) / one).toFixed(1)} %` : ", new";
    return [name, `${write(one)} \u2192 ${write(other)} (${sign}${write(Math.abs(change))}${share})`];
  };
  const counted = graph.tree.timed ? [
    line("of this, itself", (figures) => figures.waited[node], formatTime),
  ] : [
    line("instructions", (figures) => figures.allInstructions[node], formatCount),
    line("of these, itself", (figures) => figures.instructions[node], formatCount),
  ];
  return [
    ...counted,
    line("elapsed", (figures) => graph.tree.elapsed(figures, node), formatTime),
    line("calls", (figures) => figures.calls[node], formatCount),
  ];
}

function sharesOf(graph, node) {
  const whole = formatShare(graph.all[node], graph.all[graph.base]);
  if (graph.zoomed === graph.base) return whole;
  return `${whole}; ${formatShare(graph.all[node], graph.all[graph.zoomed])} of what is zoomed to`;
}

// The last six names of the path to a frame, without its own.
function callersOf(tree, node) {
  const names = tree.path(node).slice(1, -1).map((one) => tree.text(one));
  return names.length > 6 ? ["\u2026", ...names.slice(-6)].join(" \u203a ") : names.join(" \u203a ") || "nothing";
}
