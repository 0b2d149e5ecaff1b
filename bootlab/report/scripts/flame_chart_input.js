// Mouse, fingers and keys on the flame chart. A plain wheel scrolls the page, as everywhere; with Ctrl it zooms.
"use strict";

class ChartInput {
  constructor(chart) {
    this.chart = chart;
    this.canvas = chart.canvas;
    this.pointers = new Map();
    this.moved = 0;
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("dblclick", (event) => this.zoomTo(this.chart.spotAt(event.offsetX, event.offsetY)));
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.key(event.key)) return;
      event.preventDefault();
    });
  }

  wheel(event) {
    // A pinch on a touchpad arrives as a wheel with Ctrl.
    if (event.ctrlKey || event.metaKey) this.chart.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.05 : 0.004)), event.offsetX);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.chart.pan(event.deltaX || event.deltaY);
    else return;
    event.preventDefault();
  }

  down(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 1) this.moved = 0;
  }

  move(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) {
      if (event.pointerType !== "touch") this.hover(event);
      return;
    }
    const [dx, dy] = [event.offsetX - last.x, event.offsetY - last.y];
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (this.moved < 4) return;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const [before, after] = [Math.abs(last.x - other.x), Math.abs(event.offsetX - other.x)];
      if (before > 8 && after > 8) this.chart.zoom(before / after, (event.offsetX + other.x) / 2);
    } else {
      this.chart.pan(-dx);
      // A finger scrolls by itself; a mouse that drags moves the lanes too.
      if (event.pointerType === "mouse") this.chart.surface.box.scrollTop -= dy;
    }
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.chart.tooltip.hide();
  }

  up(event) {
    this.pointers.delete(event.pointerId);
  }

  click(event) {
    if (this.moved >= 4) return;
    const spot = this.chart.spotAt(event.offsetX, event.offsetY);
    if (spot && spot.row < 0) this.chart.toggle(spot.lane);
    this.select(spot);
  }

  select(spot) {
    this.chart.selected = spot;
    this.chart.surface.redraw();
    this.chart.onSelect();
  }

  hover(event) {
    const { chart } = this;
    const spot = event && chart.spotAt(event.offsetX, event.offsetY);
    if (spot && (spot.at >= 0 || spot.row < 0)) {
      const { title, lines } = chart.describe(spot);
      chart.tooltip.show(event, title, lines);
    } else {
      chart.tooltip.hide();
    }
    const was = chart.hovered;
    chart.hovered = spot && spot.at >= 0 ? spot : null;
    if (was?.at !== chart.hovered?.at || was?.lane !== chart.hovered?.lane || was?.row !== chart.hovered?.row) chart.surface.redraw();
  }

  zoomTo(spot) {
    if (!spot || spot.at < 0) return;
    const { start, took } = spot.lane.rows[spot.row];
    const margin = took[spot.at] * 0.05;
    this.chart.show(start[spot.at] - margin, start[spot.at] + took[spot.at] + margin, true);
  }

  // False when the key means nothing here.
  key(key) {
    const { chart } = this;
    const step = chart.surface.width / 8;
    if (key === "+" || key === "=" || key === "w") chart.zoom(0.5, undefined, true);
    else if (key === "-" || key === "s") chart.zoom(2, undefined, true);
    else if (key === "Home" || key === "0") chart.show(0, chart.shown, true);
    else if (key === "a") chart.pan(-step, true);
    else if (key === "d") chart.pan(step, true);
    else if (key === "ArrowLeft") this.stepAlong(-1);
    else if (key === "ArrowRight") this.stepAlong(1);
    else if (key === "ArrowUp") this.stepAcross(-1);
    else if (key === "ArrowDown") this.stepAcross(1);
    else if (key === "Enter" || key === " ") this.enter();
    else return false;
    return true;
  }

  enter() {
    const spot = this.chart.selected;
    if (spot && spot.row < 0) this.chart.toggle(spot.lane);
    else this.zoomTo(spot);
  }

  // To the span before or behind the selected one that is wide enough to be seen.
  stepAlong(step) {
    const { chart } = this;
    const spot = chart.selected;
    if (!spot || spot.row < 0) {
      chart.pan((step * chart.surface.width) / 8, true);
      return;
    }
    const row = spot.lane.rows[spot.row];
    const least = (2 * (chart.to - chart.from)) / chart.surface.width;
    let at = spot.at + step;
    while (at >= row.from && at < row.to && row.took[at] < least) at += step;
    if (at >= row.from && at < row.to) this.go({ ...spot, at });
  }

  // To the row below or above, or on to the next lane.
  stepAcross(step) {
    const { chart } = this;
    const lanes = chart.lanes.filter((lane) => !lane.hidden);
    const spot = chart.selected || { lane: lanes[0], row: -1 - step, at: -1 };
    const rows = spot.lane.open ? spot.lane.rows.length : 0;
    if (spot.row + step >= -1 && spot.row + step < rows) {
      this.go(this.nearest(spot.lane, spot.row + step));
      return;
    }
    const lane = lanes[lanes.indexOf(spot.lane) + step];
    if (lane) this.go(this.nearest(lane, step > 0 ? -1 : (lane.open ? lane.rows.length : 0) - 1));
  }

  nearest(lane, row) {
    if (row < 0) return { lane, row, at: -1 };
    const { chart } = this;
    const now = chart.selected;
    const time = now && now.at >= 0 ? now.lane.rows[now.row].start[now.at] : chart.from;
    const spans = lane.rows[row];
    const at = Math.min(chart.firstEndingAfter(spans, spans.from, time), spans.to - 1);
    return { lane, row, at: at < spans.from ? -1 : at };
  }

  // Selects, and brings into sight.
  go(spot) {
    const { chart } = this;
    const y = spot.lane.y + (spot.row < 0 ? 0 : HEAD + spot.row * ROW);
    const { box } = chart.surface;
    if (y - box.scrollTop < RULER) box.scrollTop = y - RULER;
    else if (y + ROW - box.scrollTop > chart.surface.height) box.scrollTop = y + ROW - chart.surface.height;
    if (spot.at >= 0) {
      const { start, took } = spot.lane.rows[spot.row];
      const middle = start[spot.at] + took[spot.at] / 2;
      const half = (chart.to - chart.from) / 2;
      if (start[spot.at] + took[spot.at] < chart.from || start[spot.at] > chart.to) chart.show(middle - half, middle + half);
    }
    this.select(spot);
  }
}
