// Zooms the charts of a system's history, and says what an entry is that somebody has chosen in one.
"use strict";

const HEIGHT = 280;
const SVG = "http://www.w3.org/2000/svg";

function drawn(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function milliseconds(ns, sign) {
  if (ns === null || ns === undefined) return "";
  const value = (ns / 1e6).toFixed(2).replace("-", "\u2212");
  return sign && ns > 0 ? "+" + value : value;
}

// Round values within a range, about five of them.
function roundTicks(low, high) {
  const span = Math.max(high - low, 1);
  const magnitude = 10 ** Math.floor(Math.log10(span / 5));
  const step = magnitude * [1, 2, 2.5, 5, 10].find((factor) => magnitude * factor * 5 >= span);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value);
  return found;
}

class LedgerChart {
  constructor(figure, data, compare) {
    this.figure = figure;
    this.compare = compare;
    this.entries = data.series[Number(figure.dataset.series)].map((number) => ({ ...data.entries[number], number }));
    this.end = Number(figure.dataset.end);
    this.bars = figure.querySelector(".bars");
    this.scale = figure.querySelector(".scale");
    this.box = figure.querySelector(".plot-box");
    this.chosenWords = figure.querySelector(".chosen");
    this.low = 0;
    this.high = this.entries.length;
    this.fitted = false;
    this.chosen = null;
    this.selection = drawn("rect", { class: "chosen-bar", width: 1, height: HEIGHT, visibility: "hidden" });
    this.swept = drawn("rect", { class: "swept", height: HEIGHT, visibility: "hidden" });
    this.bars.append(this.selection, this.swept);
    this.tools();
    this.input();
    this.show();
  }

  tools() {
    const tools = this.figure.querySelector(".tools");
    this.fit = button("fit height", () => { this.fitted = !this.fitted; this.show(); });
    this.range = element("span");
    tools.append(
      button("zoom in", () => this.zoom(0.5)), button("zoom out", () => this.zoom(2)),
      button("all", () => this.reset()), this.fit, this.range,
    );
    tools.hidden = false;
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "application");
    this.box.setAttribute("aria-label", "History: arrow keys choose an entry, + and \u2212 zoom, Home shows all, f fits");
  }

  input() {
    const keys = {
      ArrowLeft: () => this.move(-1), ArrowRight: () => this.move(1), "+": () => this.zoom(0.5), "-": () => this.zoom(2),
      Home: () => this.reset(), f: () => { this.fitted = !this.fitted; this.show(); },
    };
    this.box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.box.addEventListener("wheel", (event) => {
      // Without Ctrl a wheel scrolls the page, as everywhere.
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.place(event));
    }, { passive: false });
    let from = null;
    this.box.addEventListener("pointerdown", (event) => { if (event.button === 0) from = this.place(event); });
    this.box.addEventListener("pointermove", (event) => {
      if (from === null || event.pointerType === "touch") return;
      const [low, high] = [from, this.place(event)].sort((one, other) => one - other);
      this.swept.setAttribute("visibility", high - low > 1 ? "visible" : "hidden");
      this.swept.setAttribute("x", String(low));
      this.swept.setAttribute("width", String(high - low));
    });
    const end = (event) => {
      if (from === null) return;
      const to = this.place(event);
      const wide = this.swept.getAttribute("visibility") === "visible";
      this.swept.setAttribute("visibility", "hidden");
      if (wide) this.to(Math.floor(Math.min(from, to)), Math.ceil(Math.max(from, to)));
      else this.choose(Math.floor(to));
      from = null;
    };
    this.box.addEventListener("pointerup", end);
    this.box.addEventListener("pointercancel", () => { from = null; this.swept.setAttribute("visibility", "hidden"); });
    this.box.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") end(event); });
  }

  // Where on the axis of entries a pointer is.
  place(event) {
    const box = this.box.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width - 0.09) / 0.9;
    return this.low + Math.min(Math.max(share, 0), 0.999999) * (this.high - this.low);
  }

  to(low, high) {
    const width = Math.min(Math.max(Math.round(high - low), Math.min(2, this.entries.length)), this.entries.length);
    this.low = Math.min(Math.max(Math.round(low), 0), this.entries.length - width);
    this.high = this.low + width;
    this.show();
  }

  zoom(factor, around) {
    const middle = around ?? (this.chosen !== null ? this.chosen + 0.5 : (this.low + this.high) / 2);
    const width = Math.max((this.high - this.low) * factor, 1);
    const share = (middle - this.low) / (this.high - this.low);
    // One entry more or less at least, or a small history would not zoom at all.
    const wide = factor < 1 ? Math.floor(width) : Math.ceil(width);
    this.to(middle - wide * Math.min(Math.max(share, 0), 1), middle + wide * (1 - Math.min(Math.max(share, 0), 1)));
  }

  reset() {
    this.fitted = false;
    this.to(0, this.entries.length);
  }

  move(by) {
    const at = this.chosen === null ? (by > 0 ? this.low : this.high - 1) : this.chosen + by;
    this.choose(Math.min(Math.max(at, 0), this.entries.length - 1));
  }

  choose(at) {
    this.chosen = at;
    const width = this.high - this.low;
    if (at < this.low) this.to(at, at + width);
    else if (at >= this.high) this.to(at - width + 1, at + 1);
    this.selection.setAttribute("x", String(at));
    this.selection.setAttribute("visibility", "visible");
    const entry = this.entries[at];
    const said = this.chosenWords;
    const ready = entry.ready === null ? `${entry.outcome}: ${entry.detail}` : `${milliseconds(entry.ready)} ms`;
    const saved = entry.saved === null ? "" : `, saved ${milliseconds(entry.saved, true)} ms`;
    said.replaceChildren(element("b", entry.label), ` ${ready}${saved}, ${entry.verdict}. `);
    if (entry.note) said.append(`${entry.note}. `);
    for (const [words, place] of entry.links) {
      const link = element("a", words);
      link.href = place;
      said.append(link, " ");
    }
    if (!entry.links.length) said.append(element("span", "Its run is not kept here. ", "quiet"));
    said.append(button("compare from here", () => this.compare(entry.number, null)));
    said.append(button("compare to here", () => this.compare(null, entry.number)));
  }

  bounds() {
    const times = this.entries.slice(this.low, this.high).map((entry) => entry.ready).filter((ready) => ready !== null);
    if (!this.fitted || !times.length) return [0, this.end];
    const [low, high] = [Math.min(...times), Math.max(...times)];
    const room = Math.max((high - low) * 0.25, high * 0.0005, 1);
    return [Math.max(0, low - room), high + room];
  }

  show() {
    const [bottom, top] = this.bounds();
    const at = (ns) => HEIGHT * (1 - ns / this.end);
    const tall = at(bottom) - at(top);
    this.bars.setAttribute("viewBox", `${this.low} ${at(top)} ${this.high - this.low} ${tall}`);
    const dot = tall / HEIGHT;
    for (const mark of this.bars.querySelectorAll(".mark")) {
      const ns = Number(mark.dataset.top);
      const y = ns < 0 ? at(bottom) - 5 * dot : at(ns) - 7 * dot;
      mark.setAttribute("y1", String(y));
      mark.setAttribute("y2", String(y));
    }
    this.scale.replaceChildren(...roundTicks(bottom, top).flatMap((value) => {
      const y = HEIGHT * (1 - (value - bottom) / (top - bottom));
      const words = drawn("text", { x: "8.4%", y: Math.max(y + 4, 11), "text-anchor": "end" });
      words.textContent = String(Number((value / 1e6).toPrecision(7)));
      return [drawn("line", { class: "grid", x1: "9%", x2: "99%", y1: y, y2: y }), words];
    }));
    this.fit.setAttribute("aria-pressed", String(this.fitted));
    const all = this.high - this.low === this.entries.length;
    const [first, last] = [this.entries[this.low], this.entries[this.high - 1]];
    const height = this.fitted ? ", the axis of time does not start at zero" : "";
    this.range.textContent = (all ? "" : `${this.high - this.low} of ${this.entries.length}: ${first.label} to ${last.label}`) + height;
    this.figure.dataset.shown = `${this.low}-${this.high}`;
  }
}
