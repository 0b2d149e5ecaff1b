// Puts the flame graph and the flame chart to work: their tools, what they say, and what one has to do with the other.
"use strict";

const MOST_FUNCTIONS = 40;

// Which names a search finds: those that contain it, whatever the case, or match a /regular expression/. Null for no search.
function matcher(text, names) {
  if (!text) return null;
  if (text.length > 1 && text.startsWith("/") && text.endsWith("/")) {
    const wanted = new RegExp(text.slice(1, -1), "i");
    return Uint8Array.from(names, (name) => (wanted.test(name) ? 1 : 0));
  }
  const wanted = text.toLowerCase();
  return Uint8Array.from(names, (name) => (name.toLowerCase().includes(wanted) ? 1 : 0));
}

// One search for the whole page: a function found in the graph is found in the chart too.
class Search {
  constructor(tree, shown) {
    this.tree = tree;
    this.shown = shown;
    this.inputs = [...document.querySelectorAll("input[type=search]")];
    for (const input of this.inputs) input.addEventListener("input", () => this.set(input.value));
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches("input, select, textarea")) return;
      event.preventDefault();
      const seen = this.inputs.find((input) => input.closest("figure").getBoundingClientRect().bottom > 60);
      (seen || this.inputs[0]).focus();
    });
  }

  set(text) {
    for (const input of this.inputs) if (input.value !== text) input.value = text;
    let matches = null;
    let fault = "";
    try {
      matches = matcher(text.trim(), this.tree.names);
    } catch {
      fault = "not a regular expression";
    }
    this.shown(matches, fault);
  }
}

class FlameTools {
  constructor(figure, graph) {
    this.figure = figure;
    this.graph = graph;
    this.tree = graph.tree;
    this.found = figure.querySelector(".found");
    this.crumbs = figure.querySelector(".crumbs");
    this.details = figure.querySelector(".details");
    this.fault = "";
    this.chosen = this.tree.slices.flatMap((slice, index) => (slice.shown ? [index] : []));
    graph.largestFirst = figure.querySelector("[name=order]").value === "size";
    this.select("weight", (value) => { graph.weight = value; graph.arrange(); });
    this.select("order", (value) => { graph.largestFirst = value === "size"; graph.arrange(); });
    this.select("direction", (value) => graph.turn(value === "up"));
    this.select("side", (value) => { graph.side = Number(value); graph.arrange(); });
    this.slices = this.sliceButtons();
    this.showSlices();
    graph.onChange(() => this.update());
    graph.choose(this.chosen);
    this.tasks = figure.querySelector("[name=task]");
    if (this.tasks) this.taskChoice();
  }

  select(name, chosen) {
    const field = this.figure.querySelector(`[name=${name}]`);
    if (field) field.addEventListener("change", () => chosen(field.value));
  }

  sliceButtons() {
    const box = this.figure.querySelector(".slices");
    const shown = this.chosen;
    const all = this.tree.slices.map((slice, index) => index);
    const reset = button("power-on to ready", () => this.choose(shown));
    const buttons = this.tree.slices.map((slice, index) => {
      const made = button(slice.name, (event) => this.toggle(index, event.shiftKey || event.ctrlKey || event.metaKey));
      const was = slice.was_ns === undefined ? "" : formatTime(slice.was_ns) + " \u2192 ";
      made.append(element("span", was + formatTime(slice.ns)));
      return made;
    });
    if (shown.length < all.length) box.append(reset);
    box.append(button("everything", () => this.choose(all)), ...buttons);
    return buttons;
  }

  // A click shows one phase alone, and shows them all again when it was alone; with Shift it adds or takes away.
  toggle(index, adding) {
    const others = this.chosen.filter((one) => one !== index);
    const here = others.length < this.chosen.length;
    if (adding) this.choose(here ? others : [...others, index]);
    else this.choose(here && !others.length ? this.tree.slices.flatMap((slice, at) => (slice.shown ? [at] : [])) : [index]);
  }

  choose(slices) {
    if (!slices.length) return;
    this.chosen = slices;
    this.showSlices();
    this.graph.choose(slices);
  }

  showSlices() {
    this.slices.forEach((made, index) => made.setAttribute("aria-pressed", String(this.chosen.includes(index))));
  }

  // The children of the root are tasks and stages; the largest come first.
  taskChoice() {
    const { tree, graph } = this;
    const roots = [];
    for (let node = 1; node < tree.size; node = tree.end[node]) roots.push(node);
    const sum = (figures, node) => (tree.timed ? figures.allWaited[node] : figures.allInstructions[node]);
    const weight = (node) => graph.figures.reduce((whole, figures) => whole + sum(figures, node), 0);
    roots.sort((one, other) => weight(other) - weight(one) || one - other);
    const whole = roots.reduce((sum, node) => sum + weight(node), 0);
    const options = roots.map((node) => new Option(`${tree.text(node)}, ${formatShare(weight(node), whole) || "0 %"}`, String(node)));
    this.tasks.append(new Option("all tasks", "0"), ...options);
    this.tasks.addEventListener("change", () => graph.setBase(Number(this.tasks.value)));
  }

  update() {
    this.showFound();
    this.showCrumbs();
    this.showDetails();
    const { graph } = this;
    const hint = this.figure.querySelector(".hint");
    if (hint) hint.hidden = graph.tree.timed || graph.weight === "instructions" || graph.base !== 0;
    const empty = this.figure.querySelector(".empty-view");
    if (empty) empty.hidden = graph.all[graph.base] > 0;
  }

  showFound() {
    const { graph } = this;
    this.found.textContent = this.fault;
    if (!graph.matches) return;
    const [all, zoomed] = graph.found();
    const names = graph.matches.reduce((sum, one) => sum + one, 0);
    const write = graph.weight === "instructions" ? (value) => formatCount(value) + " instructions" : formatTime;
    let text = `${formatShare(all.weight, all.whole) || "0.00 %"} in matches: ${write(all.weight)} in `
      + `${counted(all.frames, "frame")} of ${counted(names, "function")}; a match inside a match counts once`;
    if (graph.zoomed !== graph.base) text += `. Of what is zoomed to: ${formatShare(zoomed.weight, zoomed.whole) || "0.00 %"}`;
    this.found.textContent = text + ".";
  }

  showCrumbs() {
    const { graph, tree } = this;
    const path = tree.path(graph.zoomed).filter((node) => tree.level[node] >= tree.level[graph.base]);
    const crumbs = path.map((node, index) => {
      const made = button(node ? tree.text(node) : "all", () => { graph.zoom(node); graph.canvas.focus({ preventScroll: true }); });
      if (index === path.length - 1) made.setAttribute("aria-current", "true");
      const item = element("li");
      item.append(made);
      return item;
    });
    this.crumbs.replaceChildren(...crumbs);
    this.crumbs.scrollLeft = this.crumbs.scrollWidth;
  }

  showDetails() {
    const { graph, tree } = this;
    const node = graph.selected >= 0 ? graph.selected : graph.zoomed;
    const parts = [element("b", node ? tree.text(node) : "all"), pairsOf(describeFrame(graph, node))];
    const path = tree.path(node).slice(1).map((one) => tree.text(one));
    if (path.length > 1) parts.push(element("p", path.join(" \u203a "), "path"));
    this.details.replaceChildren(...parts);
  }

  // Zooms to a node, having chosen what it takes for it to have any width.
  reveal(node) {
    const { graph, tree } = this;
    this.figure.closest("section").scrollIntoView();
    graph.canvas.focus({ preventScroll: true });
    if (node < graph.base || node >= tree.end[graph.base]) {
      this.tasks.value = "0";
      graph.setBase(0);
    }
    if (!(graph.all[node] > 0)) {
      graph.weight = this.figure.querySelector("[name=weight]").value = tree.timed ? "elapsed" : "life";
      this.choose(tree.slices.map((slice, index) => index));
    }
    graph.select(node);
    graph.zoom(node);
  }

  // A file of the folded stacks of what is chosen and zoomed to, made here: the whole of it is too large to keep twice.
  save() {
    const { graph, tree } = this;
    const blob = new Blob(tree.folded(graph.zoomed, graph.own), { type: "text/plain" });
    const link = element("a");
    link.href = URL.createObjectURL(blob);
    link.download = `stacks-${graph.weight}.folded`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}

// The table of functions follows the graph: its phases, its task, what it is zoomed to.
class FunctionTable {
  constructor(section, graph, search) {
    this.section = section;
    this.graph = graph;
    this.search = search;
    this.body = section.querySelector("tbody");
    this.said = section.querySelector(".of-what");
    this.waiting = 0;
    graph.onChange(() => {
      const state = [graph.figures, graph.zoomed, graph.weight, graph.side];
      if (this.state && state.every((value, at) => value === this.state[at])) return;
      this.state = state;
      // Not now: the graph is to be drawn first.
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.fill(), 200);
    });
  }

  fill() {
    const { graph } = this;
    const { tree } = graph;
    const sides = graph.figures.map((figures) => {
      const { own, all } = tree.weights(figures, graph.weight);
      return tree.byFunction(graph.zoomed, own, all);
    });
    const rows = sides.length === 1 ? this.rows(sides[0]) : this.changes(...sides);
    this.body.replaceChildren(...rows);
    const what = graph.zoomed ? tree.text(graph.zoomed) : "everything shown";
    const counts = graph.weight === "instructions";
    this.said.textContent = `Of ${what}, in ${counts ? "instructions, which the virtual clock counts" : this.graph.tree.timed ? timeUnit : "ns of the virtual clock"}.`;
    for (const heading of this.section.querySelectorAll("[aria-sort]")) heading.removeAttribute("aria-sort");
  }

  rows({ own, all }) {
    const whole = this.graph.all[this.graph.zoomed];
    return this.order((name) => own[name], own.length).map((name) => this.row(name, [
      [formatCount(own[name]), own[name]], [percentOf(own[name], whole), own[name]],
      [formatCount(all[name]), all[name]], [percentOf(all[name], whole), all[name]],
    ]));
  }

  changes(before, after) {
    const change = (name) => after.own[name] - before.own[name];
    return this.order((name) => Math.abs(change(name)), before.own.length).map((name) => this.row(name, [
      [formatCount(before.own[name]), before.own[name]], [formatCount(after.own[name]), after.own[name]],
      [signed(change(name)), change(name)], [signed(after.all[name] - before.all[name]), after.all[name] - before.all[name]],
    ]));
  }

  order(weight, size) {
    const names = Array.from({ length: size }, (_, name) => name).filter((name) => weight(name) > 0);
    return names.sort((one, other) => weight(other) - weight(one) || one - other).slice(0, MOST_FUNCTIONS);
  }

  row(name, cells) {
    const row = element("tr");
    const { names } = this.graph.tree;
    const head = element("th", undefined, "code");
    head.scope = "row";
    head.dataset.key = names[name];
    head.append(button(names[name], () => this.search.set("/^" + names[name].replace(/[.*+?^${}()|[\]\\/]/g, "\\$&") + "$/"), "plain"));
    row.append(head, ...cells.map(([text, key], index) => {
      const cell = element("td", text, "number");
      cell.dataset.key = key;
      cell.dataset.label = this.section.querySelectorAll("thead th")[index + 1].textContent;
      return cell;
    }));
    return row;
  }
}

function counted(number, what) {
  return `${formatCount(number)} ${what}${number === 1 ? "" : "s"}`;
}

function percentOf(part, whole) {
  return whole ? ((100 * part) / whole).toFixed(1) : "";
}

function rangeTime(ns) {
  return timeUnit === "ns" ? (ns / 1e6).toFixed(3) + " ms" : formatTime(ns);
}

function signed(value) {
  return (value > 0 ? "+" : value < 0 ? "\u2212" : "") + formatCount(Math.abs(value));
}

class ChartTools {
  constructor(figure, chart, tools) {
    const details = figure.querySelector(".details");
    const press = (name, pressed) => figure.querySelector(`[name=${name}]`).addEventListener("click", pressed);
    press("closer", () => chart.zoom(0.5, undefined, true));
    press("further", () => chart.zoom(2, undefined, true));
    press("earlier", () => chart.pan(-chart.surface.width / 4, true));
    press("later", () => chart.pan(chart.surface.width / 4, true));
    press("fit", () => chart.show(0, chart.shown, true));
    const lanes = figure.querySelector("[name=lanes]");
    lanes.addEventListener("change", () => { chart.threshold = Number(lanes.value); chart.arrange(); });
    const range = figure.querySelector(".range");
    chart.onView = (from, to) => { range.textContent = `${rangeTime(from)} to ${rangeTime(to)}`; };
    chart.onView(chart.from, chart.to);
    chart.onSelect = () => {
      if (!chart.selected) return;
      const { title, lines, node } = chart.describe(chart.selected);
      details.replaceChildren(element("b", title), pairsOf(lines));
      if (node >= 0) details.append(button("Show in the flame graph", () => tools.reveal(node)));
    };
    chart.threshold = Number(lanes.value);
    chart.arrange();
  }
}

async function startProfile() {
  const figures = [...document.querySelectorAll("figure.needs-script")];
  try {
    const block = await readBlock("profile-tree");
    if (!block) return;
    const palette = new Palette();
    const tree = new CallTree(block);
    const flame = document.querySelector("figure.flame.needs-script");
    const chartFigure = document.querySelector("figure.chart.needs-script");
    let [graph, tools, chart] = [null, null, null];
    if (flame) {
      flame.hidden = false;
      graph = new FlameGraph(flame, tree, palette);
      tools = new FlameTools(flame, graph);
      const save = flame.querySelector("[name=save]");
      if (save) save.addEventListener("click", () => tools.save());
    }
    const search = new Search(tree, (matches, fault) => {
      if (tools) tools.fault = fault;
      if (graph) graph.search(matches);
      if (chart) chart.search(matches);
    });
    const functions = document.querySelector("#functions");
    if (functions && graph) new FunctionTable(functions, graph, search);
    palette.changed = () => { for (const one of [graph, chart]) if (one) one.surface.redraw(); };
    if (graph) graph.changed();
    const time = chartFigure && await readBlock("profile-time");
    if (time) {
      chartFigure.hidden = false;
      chart = new FlameChart(chartFigure, time, tree, palette);
      new ChartInput(chart);
      new ChartTools(chartFigure, chart, tools);
    }
    document.documentElement.dataset.profile = "ready";
  } catch (error) {
    for (const figure of figures) {
      figure.before(element("p", `This browser cannot show the picture (${error.message}). The tables below are complete.`, "caution"));
    }
    throw error;
  }
}

startProfile();
