// The flame chart: the same frames in the order of time, one lane for each task, with its waits. A row's spans follow each
// other, so what is seen is found by halving, and spans within one pixel are drawn as one.
"use strict";

const RULER = 40;
const HEAD = 26;
const SHORTEST_VIEW_NS = 200;

class FlameChart {
  constructor(figure, block, tree, palette) {
    this.figure = figure;
    this.tree = tree;
    this.palette = palette;
    this.columns = block.columns;
    this.marks = block.marks;
    this.whole = block.end_ns;
    this.from = 0;
    this.to = block.shown_ns;
    this.shown = block.shown_ns;
    this.threshold = 0;
    this.matches = null;
    this.hovered = null;
    this.selected = null;
    this.onView = () => {};
    this.onSelect = () => {};
    this.shades = Uint8Array.from(tree.names, shadeOf);
    this.lanes = this.readLanes(block);
    this.surface = new Surface(figure.querySelector(".canvas-box"), (...all) => this.paint(...all));
    this.canvas = this.surface.canvas;
    this.tooltip = new Tooltip(figure);
    this.motion = new Motion();
    this.arrange();
  }

  // Tracks (critical path, initcalls) come first and have texts of their own; the lanes of the tasks take them from the tree.
  readLanes(block) {
    const { columns } = this;
    const lanes = [];
    let at = 0;
    for (const track of block.tracks) {
      const rows = Array.from({ length: track.rows }, () => []);
      for (const to = at + track.count; at < to; at++) rows[columns["track.row"][at]].push(at);
      lanes.push({ title: track.title, track: true, open: true, rows: rows.map((spans) => this.trackRow(spans)) });
    }
    const ends = columns["rows.end"];
    let row = 0;
    let running = 0;
    columns["lane.rows"].forEach((count, lane) => {
      const rows = [];
      for (const to = row + count; row < to; row++) {
        rows.push({ from: row ? ends[row - 1] : 0, to: ends[row], start: columns["span.start"], took: columns["span.took"] });
      }
      const from = running;
      running += columns["lane.runs"][lane];
      const busy = { from, to: running, start: columns["run.start"], took: columns["run.took"] };
      lanes.push({
        title: columns["lane.title"][lane], open: false, rows, busy, ran: columns["lane.ran"][lane],
        begins: columns["lane.begins"][lane], ends: columns["lane.ends"][lane],
      });
    });
    const most = Math.max(1, ...lanes.map((lane) => lane.ran || 0));
    let rows = 0;
    for (const lane of [...lanes].sort((one, other) => (other.ran || 0) - (one.ran || 0))) {
      if (lane.track || lane.ran < most / 50 || (rows && rows + lane.rows.length > 60)) continue;
      lane.open = true;
      rows += lane.rows.length;
    }
    return lanes;
  }

  trackRow(spans) {
    const pick = (name) => Float64Array.from(spans, (at) => this.columns[name][at]);
    return { from: 0, to: spans.length, start: pick("track.start"), took: pick("track.took"), spans };
  }

  arrange() {
    let y = RULER;
    for (const lane of this.lanes) {
      lane.hidden = !lane.track && lane.ran < this.threshold;
      lane.y = y;
      if (!lane.hidden) y += HEAD + (lane.open ? lane.rows.length * ROW : 0) + 4;
    }
    this.surface.setHeight(y, Math.max(innerHeight * 0.8, 14 * ROW));
  }

  paint(context, width, height, top) {
    const { palette } = this;
    this.labels = new Labels(context, palette.font);
    context.fillStyle = palette.raised;
    context.fillRect(0, 0, width, height);
    const scale = width / (this.to - this.from);
    this.grid(context, width, height, scale);
    for (const lane of this.lanes) {
      const y = lane.y - top;
      if (lane.hidden || y > height) continue;
      if (y + HEAD > 0) this.head(context, lane, y, scale, width);
      if (!lane.open) continue;
      lane.rows.forEach((row, index) => {
        const rowY = y + HEAD + index * ROW;
        if (rowY + ROW > RULER && rowY < height) this.row(context, lane, row, rowY, scale, width);
      });
    }
    this.outline(context, this.hovered, scale, top, palette.quiet);
    this.outline(context, this.selected, scale, top, palette.ink);
    this.ruler(context, width, height, scale);
  }

  grid(context, width, height, scale) {
    context.fillStyle = this.palette.faint;
    for (const time of roundTimes(this.from, this.to, width / 110)) {
      context.fillRect((time - this.from) * scale, RULER, 1, height);
    }
  }

  // Times and marks stay at the top. Of marks that are too near each other the first one is named.
  ruler(context, width, height, scale) {
    const { palette } = this;
    context.fillStyle = palette.raised;
    context.fillRect(0, 0, width, RULER);
    context.fillStyle = palette.line;
    context.fillRect(0, RULER - 1, width, 1);
    context.font = palette.small;
    context.fillStyle = palette.quiet;
    const times = roundTimes(this.from, this.to, width / 110);
    times.forEach((time) => {
      const x = (time - this.from) * scale;
      const text = axisTime(time, times.step);
      const wide = context.measureText(text).width;
      if (x - wide / 2 > 0 && x + wide / 2 < width) context.fillText(text, x - wide / 2, 11);
    });
    const taken = [];
    // Ready is what it is all about, so it is named even where it is crowded.
    for (const mark of [...this.marks].sort((one, other) => (other.name === "ready") - (one.name === "ready"))) {
      const x = (mark.t_ns - this.from) * scale;
      if (x < -1 || x > width + 1) continue;
      context.fillStyle = palette.risks;
      context.globalAlpha = 0.55;
      context.fillRect(Math.min(x, width - 1), RULER - 15, 1, height);
      context.globalAlpha = 1;
      const wide = context.measureText(mark.name).width + 6;
      const left = Math.min(x + 4, width - wide);
      if (x < 0 || taken.some(([from, to]) => left < to && left + wide > from)) continue;
      context.fillStyle = palette.risks;
      context.fillText(mark.name, left, 29);
      taken.push([left, left + wide]);
    }
  }

  head(context, lane, y, scale, width) {
    const { palette } = this;
    const x = (time) => Math.max(-1, Math.min((time - this.from) * scale, width + 1));
    if (!lane.track) {
      context.fillStyle = palette.faint;
      context.fillRect(x(lane.begins), y + 19, Math.max(x(lane.ends) - x(lane.begins), 0), 5);
      this.spans(lane.busy, scale, width, (at, left, wide) => {
        context.fillStyle = palette.recommended;
        context.fillRect(left, y + 19, wide, 5);
      });
    }
    context.font = palette.small;
    context.fillStyle = palette.ink;
    const sign = lane.track ? "" : lane.open ? "\u25be " : "\u25b8 ";
    context.fillText(sign + lane.title, 4, y + 11);
    const after = context.measureText(sign + lane.title).width + 12;
    context.fillStyle = palette.quiet;
    if (!lane.track) context.fillText(`ran ${formatTime(lane.ran)}`, after, y + 11);
    context.font = palette.font;
  }

  row(context, lane, row, y, scale, width) {
    this.spans(row, scale, width, (at, left, wide, narrow) => {
      const [fill, ink, text] = this.look(lane, row, at);
      context.fillStyle = fill;
      context.fillRect(left, y, wide > 4 ? wide - 0.7 : wide, ROW - 1);
      if (narrow || wide < 28) return;
      context.fillStyle = ink;
      const from = Math.max(left, 0);
      this.labels.write(text, from, left + wide - from, y + ROW / 2);
    });
  }

  // Calls `draw(index, left, width, narrow)` for what is seen of a row.
  spans(row, scale, width, draw) {
    const { start, took } = row;
    let at = this.firstEndingAfter(row, row.from, this.from);
    while (at < row.to) {
      const left = (start[at] - this.from) * scale;
      if (left > width) break;
      const wide = took[at] * scale;
      if (wide >= 1) {
        const from = Math.max(left, -1);
        draw(at, from, Math.min(left + wide, width + 1) - from, false);
        at++;
      } else {
        draw(at, left, 1, true);
        at = Math.max(at + 1, this.firstEndingAfter(row, at, start[at] + 1 / scale));
      }
    }
  }

  firstEndingAfter({ start, took, to }, from, time) {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (start[middle] + took[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  look(lane, row, at) {
    const { palette, columns, tree } = this;
    if (lane.track) {
      const number = row.spans[at];
      const text = columns["track.text"][columns["track.name"][number]];
      return [palette.kinds[columns["track.kind"][number]][number % 2], palette.label, text];
    }
    const name = tree.name[columns["span.node"][at]];
    const kind = tree.kind[name];
    if (!this.matches) return [palette.kinds[kind][this.shades[name]], palette.label, tree.names[name]];
    if (this.matches[name]) return [palette.match, palette.matchInk, tree.names[name]];
    return [palette.faded[kind], palette.quiet, tree.names[name]];
  }

  outline(context, spot, scale, top, colour) {
    if (!spot || spot.at < 0 || spot.lane.hidden || !spot.lane.open) return;
    const { start, took } = spot.lane.rows[spot.row];
    const left = (start[spot.at] - this.from) * scale;
    const y = spot.lane.y + HEAD + spot.row * ROW - top;
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    const from = Math.max(left, -2);
    const to = Math.min(left + took[spot.at] * scale, this.surface.width + 2);
    context.strokeRect(from + 0.75, y + 0.75, Math.max(to - from - 2, 1), ROW - 2.5);
  }

  // What is at a place of the canvas: a lane (row -1: its head), and of a row the span, -1 for none.
  spotAt(x, y) {
    if (y < RULER) return null;
    const place = y + this.surface.top;
    const lane = this.lanes.find((one) => {
      return !one.hidden && place >= one.y && place < one.y + HEAD + (one.open ? one.rows.length * ROW : 0);
    });
    if (!lane) return null;
    const row = Math.floor((place - lane.y - HEAD) / ROW);
    if (row < 0) return { lane, row: -1, at: -1 };
    const time = this.timeAt(x);
    const reach = (this.to - this.from) / this.surface.width;
    const spans = lane.rows[row];
    const at = this.firstEndingAfter(spans, spans.from, time - reach);
    return { lane, row, at: at < spans.to && spans.start[at] <= time + reach ? at : -1 };
  }

  timeAt(x) {
    return this.from + (x / this.surface.width) * (this.to - this.from);
  }

  // Shows `from` to `to`, in ns, as far as there is a boot.
  show(from, to, moving = false) {
    const size = Math.min(Math.max(to - from, SHORTEST_VIEW_NS), this.whole);
    const middle = (from + to) / 2;
    const begin = Math.max(0, Math.min(middle - size / 2, this.whole - size));
    const [oldFrom, oldTo] = [this.from, this.to];
    this.motion.run((share) => {
      this.from = oldFrom + (begin - oldFrom) * share;
      this.to = oldTo + (begin + size - oldTo) * share;
      this.surface.redraw();
    }, moving ? 160 : 0);
    this.onView(begin, begin + size);
  }

  // `factor` below 1 looks closer; the time at `x` stays where it is.
  zoom(factor, x = this.surface.width / 2, moving = false) {
    const time = this.timeAt(x);
    this.show(time - (time - this.from) * factor, time + (this.to - time) * factor, moving);
  }

  pan(pixels, moving = false) {
    const ns = (pixels * (this.to - this.from)) / this.surface.width;
    this.show(this.from + ns, this.to + ns, moving);
  }

  search(matches) {
    this.matches = matches;
    this.surface.redraw();
  }

  toggle(lane) {
    if (!lane.rows.length || lane.track) return;
    lane.open = !lane.open;
    this.arrange();
  }

  // A span's title, its exact figures, and the node of the call tree that it is a call of; -1 for none.
  describe({ lane, row, at }) {
    if (at < 0) {
      return { title: lane.title, node: -1, lines: lane.track ? [] : [
        ["ran", exactTime(lane.ran)],
        ["from", formatTime(lane.begins)], ["to", formatTime(lane.ends)],
      ] };
    }
    const spans = lane.rows[row];
    const [start, took] = [spans.start[at], spans.took[at]];
    const node = lane.track ? -1 : this.columns["span.node"][at];
    const lines = [
      ["took", exactTime(took)],
      ["from", `${formatCount(start)} ${timeUnit}`],
      ["to", `${formatCount(start + took)} ${timeUnit}`],
      ["in", lane.title],
    ];
    const note = lane.track ? this.columns["track.note"][spans.spans[at]] : this.columns["span.note"][at];
    if (note) lines.push(["about", this.columns.notes[note - 1]]);
    return { title: this.look(lane, spans, at)[2], node, lines };
  }
}

// Round times between two, at most `most` of them; `.step` is what lies between.
function roundTimes(from, to, most) {
  const least = (to - from) / Math.max(most, 1);
  let step = 10 ** Math.ceil(Math.log10(Math.max(least, 1)));
  if (step / 5 >= least) step /= 5;
  else if (step / 2 >= least) step /= 2;
  const times = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) times.push(time);
  times.step = step;
  return times;
}

function axisTime(ns, step) {
  if (timeUnit !== "ns") return formatTime(ns);
  const decimals = Math.max(0, Math.ceil(6 - Math.log10(step) - 1e-9));
  return (ns / 1e6).toFixed(decimals) + " ms";
}
