// Lays any two entries of a ledger side by side: phases, inputs, and the functions of their profiles.
"use strict";

const MOST_FUNCTIONS = 40;
const WHOLE = "power-on to ready";

function comparisonTable(caption, titles, rows, foot) {
  const made = element("table", undefined, "raw");
  made.append(element("caption", caption));
  const head = made.createTHead().insertRow();
  for (const title of titles) {
    const cell = element("th", title, title.endsWith("ms") || title === "%" ? "number" : "");
    cell.scope = "col";
    head.append(cell);
  }
  const body = made.createTBody();
  for (const row of foot ? [...rows, foot] : rows) {
    const line = body.insertRow();
    row.forEach((text, index) => {
      const number = titles[index].endsWith("ms") || titles[index] === "%";
      const cell = element(index ? "td" : "th", text, number ? "number" : index ? "" : "code");
      if (!index) cell.scope = "row";
      line.append(cell);
    });
  }
  const box = element("div", undefined, "scroll whole");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", caption);
  box.append(made);
  return box;
}

class Comparison {
  constructor(box, data) {
    this.box = box;
    this.data = data;
    this.functions = undefined;
    this.asked = 0;
    const tools = element("div", undefined, "tools");
    this.chosen = ["from", "to"].map((words) => {
      const label = element("label", words + " ");
      const field = element("select");
      data.entries.forEach((entry, number) => field.add(new Option(this.title(entry), String(number))));
      field.addEventListener("change", () => this.show());
      label.append(field);
      tools.append(label);
      return field;
    });
    tools.append(button("the other way round", () => {
      const [before, after] = this.chosen;
      [before.value, after.value] = [after.value, before.value];
      this.show();
    }));
    this.result = element("div");
    this.result.setAttribute("aria-live", "polite");
    box.append(tools, this.result);
    box.hidden = false;
    const last = data.entries.length - 1;
    this.set(data.entries[last].before ?? Math.max(last - 1, 0), last);
  }

  title(entry) {
    const ready = entry.ready === null ? entry.outcome : `${milliseconds(entry.ready)} ms`;
    return `${entry.label}: ${ready}${entry.note ? ", " + entry.note : ""}`.slice(0, 90);
  }

  // Compares with one or both ends chosen anew, and brings that into view.
  choose(before, after) {
    this.set(before ?? Number(this.chosen[0].value), after ?? Number(this.chosen[1].value));
    this.box.scrollIntoView({ block: "nearest" });
  }

  set(before, after) {
    this.chosen[0].value = String(before);
    this.chosen[1].value = String(after);
    this.show();
  }

  async show() {
    const asked = ++this.asked;
    const [from, to] = this.chosen.map((field) => Number(field.value));
    const [before, after] = [this.data.entries[from], this.data.entries[to]];
    const parts = this.alike(from, to)
      ? [element("p", this.verdict(before, after, from, to)), this.phases(before, after)]
      : [element("p", "Their figures do not compare: another clock, CPU model, storage or board model, or host.")];
    parts.push(...this.inputs(before, after));
    if (this.alike(from, to)) parts.push(...(await this.functionRows(before, after)));
    // Somebody may have chosen others meanwhile.
    if (asked === this.asked) {
      this.result.replaceChildren(...parts);
      this.box.dataset.shown = `${from}-${to}`;
    }
  }

  alike(from, to) {
    return this.data.series.some((one) => one.includes(from) && one.includes(to));
  }

  verdict(before, after, from, to) {
    if (before.ready === null || after.ready === null) return "One of them was not ready.";
    const saved = before.ready - after.ready;
    const words = `${milliseconds(before.ready)} \u2192 ${milliseconds(after.ready)} ms, saved ${milliseconds(saved, true)} ms: `;
    if (from === to) return "The same entry twice.";
    if (after.before === from) return words + after.verdict + ".";
    const spread = Math.max(before.spread ?? 0, after.spread ?? 0);
    const known = spread ? `They move by up to ${milliseconds(spread)} ms for no reason. ` : "Nobody measured how far they move for no reason. ";
    const names = before.name && after.name ? ` ${before.name.slice(0, 12)} ${after.name.slice(0, 12)}` : " A B";
    return `${words}${known}The verdict: bootlab ledger diff ${this.data.system}${names}`;
  }

  phases(before, after) {
    const rows = [];
    this.data.phases.forEach((name, index) => {
      const [one, other] = [before.phases[index], after.phases[index]];
      // Of entries without phases it is the foot.
      if ((one || other) && name !== WHOLE) rows.push([name, milliseconds(one), milliseconds(other), milliseconds(one - other, true)]);
    });
    const whole = before.ready !== null && after.ready !== null ? milliseconds(before.ready - after.ready, true) : "";
    const foot = [WHOLE, milliseconds(before.ready), milliseconds(after.ready), whole];
    return comparisonTable("Phases of the median boots", ["phase", "from, ms", "to, ms", "saved, ms"], rows, foot);
  }

  inputs(before, after) {
    const names = [...new Set([...Object.keys(before.inputs), ...Object.keys(after.inputs)])];
    const size = (entry, name) => (name in entry.sizes ? `, ${formatCount(entry.sizes[name])} bytes` : "");
    const said = (entry, name) => (name in entry.inputs ? entry.inputs[name] + size(entry, name) : "none");
    const rows = names.filter((name) => before.inputs[name] !== after.inputs[name])
      .map((name) => [name, said(before, name), said(after, name)]);
    if (!rows.length) return [element("h3", "Inputs"), element("p", names.length ? "The same." : "Not known.")];
    return [element("h3", "Inputs that differ"), comparisonTable("Inputs by the first digits of their sha256", ["input", "from", "to"], rows)];
  }

  async functionRows(before, after) {
    const title = element("h3", "Functions");
    const lacking = [before, after].filter((entry) => entry.profile === null || entry.profile === undefined);
    if (lacking.length) {
      const words = [...new Set(lacking.map((entry) => entry.label))].join(" and ");
      return [title, element("p", `No profile of ${words} is kept here.`)];
    }
    if (this.functions === undefined) this.functions = await readBlock("ledger-functions");
    const { columns, profiles } = this.functions;
    const rows = [];
    columns.name.forEach((name, index) => {
      const [one, other] = [index * profiles + before.profile, index * profiles + after.profile];
      const own = columns.own[one] - columns.own[other];
      const total = columns.total[one] - columns.total[other];
      if (own || total) rows.push({ name, one, other, own, total });
    });
    if (!rows.length) return [title, element("p", "Every function takes the same.")];
    rows.sort((a, b) => Math.abs(b.own) - Math.abs(a.own) || Math.abs(b.total) - Math.abs(a.total));
    const rest = rows.slice(MOST_FUNCTIONS);
    const shown = rows.slice(0, MOST_FUNCTIONS).map(({ name, one, other, own, total }) => [
      name, this.exact(columns.own[one]), this.exact(columns.own[other]), this.exact(own, true), this.exact(total, true),
    ]);
    const left = rest.length
      ? [element("p", `${formatCount(rest.length)} more differ, by ${this.exact(rest.reduce((sum, row) => sum + row.own, 0), true)} ms of their own in all.`, "quiet")]
      : [];
    const caption = "Functions up to ready, by what each took itself; with all it called in the last column";
    return [title, comparisonTable(caption, ["function", "from, ms", "to, ms", "saved, ms", "saved with calls, ms"], shown), ...left];
  }

  // What is less than 10 us would read as nothing with two decimals.
  exact(ns, sign) {
    const value = Math.abs(ns) < 1e5 && ns ? (ns / 1e6).toFixed(6) : (ns / 1e6).toFixed(2);
    return (sign && ns > 0 ? "+" : "") + value.replace("-", "\u2212");
  }
}

async function openLedger() {
  const data = await readBlock("ledger-entries");
  if (data === null) return;
  const comparison = new Comparison(document.querySelector(".compare"), data);
  const compare = (before, after) => comparison.choose(before, after);
  for (const figure of document.querySelectorAll(".ledger-chart")) new LedgerChart(figure, data, compare);
  document.documentElement.dataset.ledger = "ready";
}

openLedger();
