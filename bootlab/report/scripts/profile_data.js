// Decodes the figures that the page carries: columns of whole numbers, deflated, so that a whole boot stays small.
"use strict";

// A block is base64 of a zlib stream: the length of a JSON head (4 bytes, little-endian), the head, then the columns.
// `head.columns` says of each column its form, its length and where it is; the rest of the head is plain values.
async function readBlock(id) {
  const element = document.getElementById(id);
  if (!element) return null;
  const packed = atob(element.textContent);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = new Uint8Array(await new Response(inflated).arrayBuffer());
  const length = new DataView(raw.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(raw.subarray(4, 4 + length)));
  const columns = {};
  for (const [name, column] of Object.entries(head.columns)) {
    columns[name] = readColumn(raw.subarray(4 + length + column.start, 4 + length + column.end), column);
  }
  return { ...head, columns };
}

function readColumn(bytes, { form, count, wide }) {
  if (form === "text") return count ? new TextDecoder().decode(bytes).split("\n") : [];
  const values = wide ? new Float64Array(count) : new Int32Array(count);
  const differences = form === "differences";
  let at = 0;
  let last = 0;
  for (let index = 0; index < count; index++) {
    // Seven bits a byte, lowest first. Multiplied, not shifted: nanoseconds need more than 32 bits.
    let value = 0;
    let factor = 1;
    let byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    if (differences) {
      // Signs are folded in: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
      last += value % 2 ? -(value + 1) / 2 : value / 2;
      value = last;
    }
    values[index] = value;
  }
  return values;
}

const wholeNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function formatCount(value) {
  return wholeNumber.format(value);
}

// What times are in: a counter of unknown rate counts cycles.
let timeUnit = "ns";

// The page's tables show ms with two decimals; what is shorter than 10 us needs more to be told from nothing.
function formatTime(ns) {
  if (timeUnit !== "ns") return wholeNumber.format(ns) + " " + timeUnit;
  const size = Math.abs(ns);
  if (size >= 1e5 || size === 0) return (ns / 1e6).toFixed(2) + " ms";
  return size >= 1000 ? (ns / 1000).toFixed(2) + " \u00b5s" : wholeNumber.format(ns) + " ns";
}

// The same, and to the last unit.
function exactTime(ns) {
  return timeUnit === "ns" ? `${formatTime(ns)}, ${formatCount(ns)} ns` : formatTime(ns);
}

function formatShare(part, whole) {
  if (!whole) return "";
  const share = (100 * part) / whole;
  if (part && Math.abs(share) < 0.01) return "< 0.01 %";
  return share.toFixed(2) + " %";
}
