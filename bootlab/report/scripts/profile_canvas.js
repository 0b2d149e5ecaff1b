// What the flame graph and the flame chart share: a canvas as large as what is seen of it, colours, labels, a tooltip.
"use strict";

// The order is the one that profile_blocks.py numbers them in.
const KINDS = ["other", "stage", "task", "kernel", "module", "user", "entry", "wait", "runnable", "idle"];
const SHADES = 5;
const FINGERS = matchMedia("(pointer: coarse)").matches;
const ROW = FINGERS ? 24 : 19;

// Colours stand in the style sheet, so that legend and canvas agree; a name decides the shade, to tell neighbours apart.
class Palette {
  constructor() {
    this.changed = () => {};
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.read());
    this.read();
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue("--" + name).trim();
    for (const name of ["ground", "raised", "ink", "quiet", "line", "faint", "recommended", "risks", "bad"]) {
      this[name] = value(name);
    }
    this.label = value("frame-ink");
    this.match = value("frame-match");
    this.matchInk = value("frame-match-ink");
    this.narrow = value("frame-narrow");
    this.more = value("frame-more");
    this.less = value("frame-less");
    this.same = value("frame-same");
    this.font = "12px " + value("mono");
    this.small = "11px " + getComputedStyle(document.body).fontFamily;
    const mixed = (name, to, most) => Array.from({ length: SHADES }, (_, shade) => mix(value(name), to, (most * shade) / (SHADES - 1)));
    this.kinds = KINDS.map((kind) => mixed("frame-" + kind, this.ground, 0.42));
    this.faded = KINDS.map((kind) => mix(value("frame-" + kind), this.ground, 0.72));
    this.scale = Array.from({ length: 41 }, (_, at) => mix(this.same, at > 20 ? this.more : this.less, Math.abs(at - 20) / 20));
    this.changed();
  }
}

function mix(one, other, share) {
  const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const [from, to] = [parts(one), parts(other)];
  return "rgb(" + from.map((value, at) => Math.round(value + (to[at] - value) * share)).join(" ") + ")";
}

function shadeOf(text) {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return (hash >>> 0) % SHADES;
}

// Writes as much of a label as fits. The font is monospaced, so that measuring one character is enough.
class Labels {
  constructor(context, font) {
    context.font = font;
    context.textBaseline = "middle";
    this.context = context;
    this.advance = context.measureText("0".repeat(32)).width / 32;
  }

  write(text, left, width, middle) {
    const room = Math.floor((width - 7) / this.advance);
    if (room < 3) return;
    this.context.fillText(text.length <= room ? text : text.slice(0, room - 1) + "\u2026", left + 4, middle);
  }
}

// A box that scrolls down over contents of any height, with a canvas that always covers just what is seen. `paint` is
// called at most once per frame of the screen.
class Surface {
  constructor(box, paint) {
    this.box = box;
    this.canvas = box.querySelector("canvas");
    this.spacer = box.querySelector(".spacer");
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.paint = paint;
    this.asked = 0;
    this.width = 0;
    this.height = 0;
    this.content = 0;
    new ResizeObserver(() => this.resize()).observe(box);
    box.addEventListener("scroll", () => this.redraw(), { passive: true });
  }

  get top() {
    return this.box.scrollTop;
  }

  // `content` and `most` in CSS pixels: how high all of it is, and how much of it is shown at once.
  setHeight(content, most = Infinity) {
    const height = Math.max(ROW * 2, Math.min(content, most));
    this.content = content;
    this.box.style.height = height + 2 + "px";
    this.height = height;
    this.resize();
  }

  resize() {
    const width = this.box.clientWidth;
    if (!width || !this.height) return;
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.ratio = ratio;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.height = this.height + "px";
    }
    this.spacer.style.height = Math.max(this.content - this.height, 0) + "px";
    this.redraw();
  }

  redraw() {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      if (!this.width || !this.height) return;
      const begun = performance.now();
      this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      this.paint(this.context, this.width, this.height, this.top);
      // For whoever wants to know how quick it is; the browser tests do.
      this.canvas.dataset.drawnMs = (performance.now() - begun).toFixed(2);
      this.canvas.dataset.frames = Number(this.canvas.dataset.frames || 0) + 1;
    });
  }
}

// The box beside the pointer. Everything in it is set as text: names come from the guest.
class Tooltip {
  constructor(figure) {
    this.element = document.createElement("div");
    this.element.className = "tooltip";
    this.element.hidden = true;
    figure.append(this.element);
    this.figure = figure;
  }

  show(event, title, lines) {
    const heading = document.createElement("b");
    heading.textContent = title;
    this.element.replaceChildren(heading, pairsOf(lines));
    this.element.hidden = false;
    const frame = this.figure.getBoundingClientRect();
    const size = this.element.getBoundingClientRect();
    const left = Math.min(event.clientX - frame.left + 14, frame.width - size.width);
    const below = event.clientY + 18 + size.height < innerHeight;
    const top = event.clientY - frame.top + (below ? 18 : -size.height - 12);
    this.element.style.transform = `translate(${Math.max(left, 0)}px, ${top}px)`;
  }

  hide() {
    this.element.hidden = true;
  }
}

function pairsOf(lines) {
  const list = document.createElement("dl");
  for (const [name, value] of lines) {
    const term = document.createElement("dt");
    const figure = document.createElement("dd");
    term.textContent = name;
    figure.textContent = value;
    list.append(term, figure);
  }
  return list;
}

// Runs `step(share)` from 0 to 1 over a moment; at once where the reader has asked for less motion.
class Motion {
  constructor() {
    this.running = 0;
  }

  run(step, lasts = 160) {
    cancelAnimationFrame(this.running);
    if (!lasts || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      step(1);
      return;
    }
    const begun = performance.now();
    const next = () => {
      const share = Math.min((performance.now() - begun) / lasts, 1);
      step(1 - (1 - share) ** 3);
      if (share < 1) this.running = requestAnimationFrame(next);
    };
    this.running = requestAnimationFrame(next);
  }
}
