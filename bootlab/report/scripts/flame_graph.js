// The flame graph on a canvas. Only what can be seen is visited: frames narrower than a pixel are drawn as one, and
// nothing below them is looked at, so a redraw costs about the same for a thousand nodes and for a million.
"use strict";

class FlameGraph {
  constructor(figure, tree, palette) {
    this.figure = figure;
    this.tree = tree;
    this.palette = palette;
    this.shades = Uint8Array.from(tree.names, shadeOf);
    this.surface = new Surface(figure.querySelector(".canvas-box"), (...all) => this.paint(...all));
    this.canvas = this.surface.canvas;
    this.tooltip = new Tooltip(figure);
    this.motion = new Motion();
    this.weight = tree.timed ? "elapsed" : "instructions";
    this.largestFirst = false;
    this.upwards = false;
    this.side = tree.sides - 1;
    this.base = 0;
    this.zoomed = 0;
    this.selected = -1;
    this.hovered = -1;
    this.matches = null;
    this.listeners = [];
    this.frames = new Int32Array(tree.size);
    this.listen();
  }

  // `told()` is called whenever what is shown has changed: other slices, weights, zoom, or matches.
  onChange(told) {
    this.listeners.push(told);
  }

  choose(slices) {
    this.figures = Array.from({ length: this.tree.sides }, (_, side) => this.tree.figures(side, slices));
    this.arrange();
  }

  // Lays everything out anew, and stays where it was as far as that still has any weight.
  arrange() {
    const { own, all } = this.tree.weights(this.figures[this.side], this.weight);
    this.own = own;
    this.all = all;
    Object.assign(this, this.tree.layout(all, this.largestFirst));
    while (this.zoomed !== this.base && !(all[this.zoomed] > 0)) this.zoomed = this.tree.parent[this.zoomed];
    this.from = this.start[this.zoomed];
    this.to = this.from + this.all[this.zoomed];
    this.fit();
    this.changed();
  }

  // Room for all rows, of which the box shows those that have frames wide enough to be seen.
  fit() {
    const { tree, base, all } = this;
    const level = tree.level[base];
    let deepest = 0;
    for (let node = base; node < tree.end[base]; node++) {
      if (all[node] > 0 && tree.level[node] - level > deepest) deepest = tree.level[node] - level;
    }
    this.rows = deepest + 1;
    this.shownRows = this.seenRows(base);
    this.setHeight();
    if (this.upwards) this.surface.box.scrollTop = this.rows * ROW;
  }

  seenRows(root) {
    const least = this.all[root] / Math.max(this.surface.width, 300);
    const level = this.tree.level[this.base];
    let deepest = 0;
    for (let node = root; node < this.tree.end[root]; ) {
      // A subtree too narrow to be seen is passed over as a whole.
      if (this.all[node] < least) node = this.tree.end[node];
      else deepest = Math.max(deepest, this.tree.level[node++] - level);
    }
    return deepest + 2;
  }

  setHeight() {
    const most = Math.max(innerHeight * 0.72, 12 * ROW);
    this.surface.setHeight(this.rows * ROW, Math.min(Math.max(this.shownRows, 14) * ROW, most));
  }

  changed() {
    this.surface.redraw();
    for (const told of this.listeners) told();
  }

  turn(upwards) {
    this.upwards = upwards;
    this.fit();
    this.changed();
  }

  setBase(node) {
    this.base = node;
    this.zoomed = node;
    this.selected = -1;
    this.arrange();
  }

  zoom(node) {
    if (!(this.all[node] > 0)) return;
    this.zoomed = node;
    this.tooltip.hide();
    // The box grows with what there is to see and does not shrink: what is below it should not jump about.
    this.shownRows = Math.max(this.shownRows, this.seenRows(node));
    this.setHeight();
    const [from, to] = [this.from, this.to];
    const [goalFrom, goalTo] = [this.start[node], this.start[node] + this.all[node]];
    this.motion.run((share) => {
      this.from = from + (goalFrom - from) * share;
      this.to = to + (goalTo - to) * share;
      this.surface.redraw();
    });
    this.reveal(node, 3);
    this.changed();
  }

  reveal(node, above) {
    const row = this.rowOf(node);
    const shown = Math.floor(this.surface.height / ROW);
    const first = this.surface.top / ROW;
    if (row >= first && row < first + shown - 1) return;
    this.surface.box.scrollTop = (this.upwards ? row - shown + above + 1 : row - above) * ROW;
  }

  rowOf(node) {
    const depth = this.tree.level[node] - this.tree.level[this.base];
    return this.upwards ? this.rows - 1 - depth : depth;
  }

  // `matches` says of each name whether it is looked for; null ends the search.
  search(matches) {
    this.matches = matches;
    this.changed();
  }

  // What matches in all that is chosen, and in what is zoomed to.
  found() {
    return [this.base, this.zoomed].map((root) => ({
      ...this.tree.matched(this.matches, this.all, root), whole: this.all[root],
    }));
  }

  paint(context, width, height, top) {
    const { tree, palette, start, all, kids } = this;
    const labels = new Labels(context, palette.font);
    context.fillStyle = palette.raised;
    context.fillRect(0, 0, width, height);
    const scale = width / Math.max(this.to - this.from, 1e-9);
    const pixel = 1 / scale;
    const level = tree.level[this.base];
    const last = this.upwards ? this.rows - 1 - Math.floor(top / ROW) : Math.floor((top + height) / ROW);
    let waiting = 0;
    if (all[this.base] > 0) {
      this.frames[waiting++] = this.base;
      this.frame(context, labels, this.base, (start[this.base] - this.from) * scale, all[this.base] * scale, width, top);
    }
    while (waiting) {
      const node = this.frames[--waiting];
      const depth = tree.level[node] - level + 1;
      const to = tree.kidsFrom[node + 1];
      let at = this.firstEndingAfter(tree.kidsFrom[node], to, this.from);
      let run = -1;
      let runEnd = 0;
      const flush = () => {
        if (run < 0) return;
        context.fillStyle = this.matches ? palette.line : tree.sides === 2 ? palette.same : palette.narrow;
        context.fillRect(run, this.yOf(depth) - top, Math.max(runEnd - run, 0.6), ROW - 1);
        run = -1;
      };
      while (at < to) {
        const kid = kids[at];
        const left = (start[kid] - this.from) * scale;
        const wide = all[kid] * scale;
        if (left > width) break;
        if (wide < 1) {
          if (run < 0) run = left;
          if (left - runEnd > 1 && run < left) {
            flush();
            run = left;
          }
          runEnd = left + wide;
          // All that ends within this pixel is part of the run, however many there are.
          at = Math.max(at + 1, this.firstEndingAfter(at, to, start[kid] + pixel));
          continue;
        }
        flush();
        this.frame(context, labels, kid, left, wide, width, top);
        if (depth < last && tree.kidsFrom[kid + 1] > tree.kidsFrom[kid]) this.frames[waiting++] = kid;
        at++;
      }
      flush();
    }
    this.outline(context, this.selected, scale, width, top, palette.ink);
    if (this.hovered !== this.selected) this.outline(context, this.hovered, scale, width, top, palette.quiet);
  }

  // Children lie from left to right, so the first one that is seen is found by halving.
  firstEndingAfter(from, to, place) {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >> 1;
      const kid = this.kids[middle];
      if (this.start[kid] + this.all[kid] > place) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  yOf(depth) {
    return (this.upwards ? this.rows - 1 - depth : depth) * ROW;
  }

  frame(context, labels, node, left, wide, width, top) {
    const y = this.yOf(this.tree.level[node] - this.tree.level[this.base]) - top;
    if (y <= -ROW || y >= this.surface.height) return;
    const shownLeft = Math.max(left, -1);
    const shownWidth = Math.min(left + wide, width + 1) - shownLeft;
    const [fill, ink] = this.colours(node);
    context.fillStyle = fill;
    context.fillRect(shownLeft, y, wide > 4 ? shownWidth - 0.7 : shownWidth, ROW - 1);
    if (shownWidth < 28) return;
    context.fillStyle = ink;
    const textLeft = Math.max(shownLeft, 0);
    labels.write(this.tree.text(node), textLeft, shownLeft + shownWidth - textLeft, y + ROW / 2);
  }

  colours(node) {
    const { palette, tree } = this;
    const name = tree.name[node];
    if (this.matches && this.matches[name]) return [palette.match, palette.matchInk];
    const kind = tree.kind[name];
    if (this.matches) return [palette.faded[kind], palette.quiet];
    if (tree.sides === 2) return [palette.scale[20 + Math.round(20 * this.change(node))], palette.label];
    return [palette.kinds[kind][this.shades[name]], palette.label];
  }

  // From -1, gone, to 1, new: how much of the larger of its two weights a frame has gained or lost.
  change(node) {
    const [before, after] = this.figures.map((figures) => this.weightIn(figures, node));
    return before === after ? 0 : (after - before) / Math.max(before, after);
  }

  weightIn(figures, node) {
    return this.weight === "instructions" ? figures.allInstructions[node] : this.tree.elapsed(figures, node);
  }

  outline(context, node, scale, width, top, colour) {
    if (node < 0 || !(this.all[node] > 0)) return;
    const left = Math.max((this.start[node] - this.from) * scale, 0);
    const right = Math.min((this.start[node] + this.all[node] - this.from) * scale, width);
    if (right < 0 || left > width) return;
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, this.rowOf(node) * ROW - top + 0.75, Math.max(right - left - 2, 1), ROW - 2.5);
  }

  // The frame at a place of the canvas; -1 for none.
  nodeAt(x, y) {
    const row = Math.floor((y + this.surface.top) / ROW);
    const wanted = this.upwards ? this.rows - 1 - row : row;
    const place = this.from + (x / this.surface.width) * (this.to - this.from);
    let node = this.base;
    if (wanted < 0 || !(this.all[node] > 0)) return -1;
    for (let depth = 0; depth < wanted; depth++) {
      const to = this.tree.kidsFrom[node + 1];
      const at = this.firstEndingAfter(this.tree.kidsFrom[node], to, place);
      if (at >= to || this.start[this.kids[at]] > place) return -1;
      node = this.kids[at];
    }
    return node;
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      this.hover(this.nodeAt(event.offsetX, event.offsetY), event);
    });
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    let touched = false;
    canvas.addEventListener("pointerdown", (event) => { touched = event.pointerType === "touch"; });
    canvas.addEventListener("click", (event) => {
      const node = this.nodeAt(event.offsetX, event.offsetY);
      if (node < 0) return;
      // A finger cannot hover: its first tap shows the figures, the second one zooms.
      const tapped = touched && node !== this.selected;
      this.select(node);
      if (!tapped) this.zoom(node);
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.key(event.key)) return;
      event.preventDefault();
    });
    canvas.addEventListener("focus", () => {
      if (this.selected < 0 && canvas.matches(":focus-visible")) this.select(this.zoomed);
    });
  }

  hover(node, event) {
    if (node < 0) this.tooltip.hide();
    else this.tooltip.show(event, this.tree.text(node), [...describeFrame(this, node), ["called by", callersOf(this.tree, node)]]);
    if (node === this.hovered) return;
    this.hovered = node;
    this.surface.redraw();
  }

  select(node) {
    this.selected = node;
    this.changed();
  }

  // Moves by keyboard; false when the key means nothing here.
  key(key) {
    const now = this.selected < 0 ? this.zoomed : this.selected;
    const [inwards, outwards] = this.upwards ? ["ArrowUp", "ArrowDown"] : ["ArrowDown", "ArrowUp"];
    let goal = -1;
    if (key === "Enter" || key === " ") this.zoom(now);
    else if (key === "Escape" || key === "Backspace") this.zoom(this.zoomed === this.base ? this.base : this.tree.parent[this.zoomed]);
    else if (key === "Home" || key === "0") this.zoom(this.base);
    else if (key === inwards) goal = this.widestKid(now);
    else if (key === outwards) goal = now === this.base ? now : this.tree.parent[now];
    else if (key === "ArrowLeft") goal = this.sibling(now, -1);
    else if (key === "ArrowRight") goal = this.sibling(now, 1);
    else return false;
    if (goal >= 0) {
      this.select(goal);
      this.reveal(goal, 3);
    } else if (key === "Escape" || key === "Backspace" || key === "Home" || key === "0") {
      this.select(this.zoomed);
    }
    return true;
  }

  widestKid(node) {
    let widest = -1;
    for (let at = this.tree.kidsFrom[node]; at < this.tree.kidsFrom[node + 1]; at++) {
      if (this.all[this.kids[at]] > (widest < 0 ? 0 : this.all[widest])) widest = this.kids[at];
    }
    return widest;
  }

  sibling(node, step) {
    if (node === this.base) return -1;
    const parent = this.tree.parent[node];
    const [from, to] = [this.tree.kidsFrom[parent], this.tree.kidsFrom[parent + 1]];
    let at = this.kids.indexOf(node, from) + step;
    while (at >= from && at < to && !(this.all[this.kids[at]] > 0)) at += step;
    return at >= from && at < to ? this.kids[at] : -1;
  }
}
