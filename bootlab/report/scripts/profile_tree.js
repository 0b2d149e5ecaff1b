// The call tree and what is counted over it. Nodes are numbered depth first, so a subtree is a range and every pass over
// the tree is one loop over typed arrays.
"use strict";

class CallTree {
  // `sides` is 1 for one boot, 2 for two: their weights lie in one tree.
  constructor(block) {
    const { level, name, kind } = block.columns;
    this.size = level.length;
    this.level = level;
    this.name = name;
    this.names = block.columns.names;
    this.kind = kind;
    this.nsPerInstruction = block.ns_per_instruction;
    this.slices = block.slices;
    this.sides = block.sides;
    // Somebody else's recording: times, and no instructions.
    this.timed = Boolean(block.timed);
    if (block.unit && block.unit !== "ns") timeUnit = block.unit;
    this.columns = block.columns;
    this.noWork = this.names.indexOf("[no work]");
    this.parent = new Int32Array(this.size);
    this.end = new Int32Array(this.size);
    this.deepest = 0;
    const open = [];
    for (let node = 0; node < this.size; node++) {
      while (open.length > level[node]) this.end[open.pop()] = node;
      this.parent[node] = open.length ? open[open.length - 1] : -1;
      open.push(node);
      this.deepest = Math.max(this.deepest, level[node]);
    }
    while (open.length) this.end[open.pop()] = this.size;
    this.kidsFrom = new Int32Array(this.size + 1);
    for (let node = 1; node < this.size; node++) this.kidsFrom[this.parent[node] + 1]++;
    for (let node = 0; node < this.size; node++) this.kidsFrom[node + 1] += this.kidsFrom[node];
  }

  text(node) {
    return this.names[this.name[node]];
  }

  path(node) {
    const nodes = [];
    for (let at = node; at >= 0; at = this.parent[at]) nodes.push(at);
    return nodes.reverse();
  }

  // The figures of the chosen slices of one side: what each node took itself, and with all below it.
  figures(side, chosen) {
    const figures = {
      instructions: new Float64Array(this.size), waited: new Float64Array(this.size), calls: new Float64Array(this.size),
      // Kernel threads that sleep because there is nothing for them to do: hours of it in a minute's boot.
      idled: new Float64Array(this.size),
    };
    for (const slice of chosen) {
      const part = (what) => this.columns[`${side}.${slice}.${what}`];
      const nodes = part("nodes");
      const [instructions, waited, calls] = [part("instructions"), part("waited"), part("calls")];
      for (let at = 0; at < nodes.length; at++) {
        figures.instructions[nodes[at]] += instructions[at];
        (this.name[nodes[at]] === this.noWork ? figures.idled : figures.waited)[nodes[at]] += waited[at];
        figures.calls[nodes[at]] += calls[at];
      }
    }
    figures.allInstructions = this.summed(figures.instructions);
    figures.allWaited = this.summed(figures.waited);
    figures.allIdled = this.summed(figures.idled);
    return figures;
  }

  // A child comes after its parent, so one pass from the end adds everything up.
  summed(own) {
    const all = own.slice();
    for (let node = this.size - 1; node > 0; node--) all[this.parent[node]] += all[node];
    return all;
  }

  elapsed(figures, node) {
    return figures.allInstructions[node] * this.nsPerInstruction + figures.allWaited[node];
  }

  // What the frames are as wide as: instructions, ns of running and waiting, or ns of a task's whole life.
  weights(figures, kind) {
    if (kind === "instructions") return { own: figures.instructions, all: figures.allInstructions };
    const own = new Float64Array(this.size);
    const idled = kind === "life" ? 1 : 0;
    for (let node = 0; node < this.size; node++) {
      own[node] = figures.instructions[node] * this.nsPerInstruction + figures.waited[node] + idled * figures.idled[node];
    }
    return { own, all: this.summed(own) };
  }

  // Where each frame starts, and the children of each node from left to right: as they were first entered, which is how
  // nodes are numbered, or the largest first.
  layout(all, largestFirst) {
    const kids = new Int32Array(Math.max(this.size - 1, 0));
    const next = this.kidsFrom.slice();
    for (let node = 1; node < this.size; node++) kids[next[this.parent[node]]++] = node;
    if (largestFirst) {
      for (let node = 0; node < this.size; node++) {
        const [from, to] = [this.kidsFrom[node], this.kidsFrom[node + 1]];
        if (to - from > 1) kids.subarray(from, to).sort((one, other) => all[other] - all[one] || one - other);
      }
    }
    const start = new Float64Array(this.size);
    for (let node = 0; node < this.size; node++) {
      let at = start[node];
      for (let index = this.kidsFrom[node]; index < this.kidsFrom[node + 1]; index++) {
        start[kids[index]] = at;
        at += all[kids[index]];
      }
    }
    return { kids, start };
  }

  // The weight of everything below `root` in functions that match: a match inside a match is counted once.
  matched(matches, all, root) {
    let weight = 0;
    let frames = 0;
    const end = this.end[root];
    for (let node = root; node < end; ) {
      if (!matches[this.name[node]]) {
        node++;
        continue;
      }
      if (all[node] > 0) frames++;
      weight += all[node];
      node = this.end[node];
    }
    return { weight, frames };
  }

  // Per function below `root`: what it took itself, and with all it called. A function that calls itself, directly or
  // not, is counted once.
  byFunction(root, own, all) {
    const size = this.names.length;
    const table = { own: new Float64Array(size), all: new Float64Array(size) };
    const open = new Int32Array(size);
    const path = [];
    for (let node = root; node < this.end[root]; node++) {
      while (path.length && this.end[path[path.length - 1]] <= node) open[this.name[path.pop()]]--;
      const name = this.name[node];
      table.own[name] += own[node];
      if (open[name]++ === 0) table.all[name] += all[node];
      path.push(node);
    }
    return table;
  }

  // Folded stacks of everything below `root`, in parts that a Blob takes without one huge string.
  folded(root, own) {
    const parts = [];
    const frames = this.path(root).map((node) => this.text(node).replaceAll(";", ":"));
    let lines = "";
    for (let node = root; node < this.end[root]; node++) {
      frames.length = this.level[node];
      frames.push(this.text(node).replaceAll(";", ":"));
      if (own[node] > 0) lines += frames.slice(1).join(";") + " " + own[node] + "\n";
      if (lines.length > 1e6) {
        parts.push(lines);
        lines = "";
      }
    }
    return [...parts, lines];
  }
}
