// SPDX-License-Identifier: MIT
// Events in the order of time, as a table that has elements for the visible rows only.

const EVENT_ROW = 24,
  EVENT_HEIGHT_MOST = 8e6, // taller elements are beyond what browsers scroll
  EVENT_KINDS = [
    ["waits", tr("Waits")],
    ["holds", tr("Holds")],
    ["regions", tr("Regions")],
    ["calls", tr("MPI calls")],
    ["marks", tr("Marks")],
  ];

class EventTable {
  constructor(app) {
    this.app = app;
    this.m = app.recording;
    this.kinds = new Set(["waits", "regions", "calls", "marks"]);
    this.words = "";
    this.search = h("input", {
      type: "search",
      placeholder: tr("Search threads, objects, functions"),
      "aria-label": tr("Search events by thread, object or function"),
      oninput: () => this.look(this.search.value),
    });
    this.found = h("span", {class: "found", role: "status"});
    this.offered = EVENT_KINDS.filter(([kind]) => kind !== "calls" || this.m.mpi);
    this.buttons = this.offered.map(([kind, title]) =>
      button(title, () => this.toggle(kind), {"aria-pressed": String(this.kinds.has(kind))}),
    );
    this.body = h("div", {class: "event-rows"});
    this.spacer = h("div");
    this.scroller = h(
      "div",
      {class: "event-scroller", role: "rowgroup", tabindex: "0", onscroll: () => this.draw()},
      this.spacer,
      this.body,
    );
    const head = h(
      "div",
      {class: "event head", role: "row"},
      [tr("Begin"), tr("Duration"), tr("Thread"), tr("Event"), tr("Called at")].map((title) => h("b", {role: "columnheader"}, title)),
    );
    fill(byId("events"), [
      h("div", {class: "bar-tools"}, this.search, this.found, h("span", {class: "space"}), this.buttons),
      h("div", {class: "event-table", role: "table", "aria-label": tr("Events in the order of time")}, head, this.scroller),
    ]);
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.collect();
  }

  toggle(kind) {
    if (!this.kinds.delete(kind)) this.kinds.add(kind);
    this.buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(this.kinds.has(this.offered[i][0]))));
    this.collect();
  }

  look(words) {
    this.words = words.trim().toLowerCase();
    this.collect();
  }

  // What the words match, by number; null without words.
  matches() {
    const m = this.m,
      has = (text) => text.toLowerCase().includes(this.words);
    if (!this.words) return null;
    return {
      threads: m.threads.map((t) => has(t.label)),
      objects: m.objects.map((o) => has(o.title)),
      regions: m.regions.map((r) => has(r.name)),
      calls: (m.mpi?.names || []).map(has),
      sites: m.sites.map((_, i) => has(m.siteText(i + 1))),
    };
  }

  // Gathers the events of the kinds and words wanted, and sorts them.
  collect() {
    const m = this.m,
      found = this.matches(),
      begin = [],
      table = [],
      index = [];
    const names = EVENT_KINDS.map(([kind]) => kind);
    for (const kind of names.filter((k) => m.tables[k] && this.kinds.has(k))) {
      const t = m.tables[kind],
        number = names.indexOf(kind);
      for (const row of t.rows) {
        for (let i = row.from; i < row.to; i++) {
          if (found && !this.isFound(found, row, i)) continue;
          begin.push(t.begin[i]);
          table.push(number);
          index.push(i);
        }
      }
    }
    if (this.kinds.has("marks"))
      m.marks.forEach((mark, i) => {
        if (found && !found.threads[mark[1]] && !mark[2].toLowerCase().includes(this.words)) return;
        begin.push(mark[0]);
        table.push(names.indexOf("marks"));
        index.push(i);
      });
    this.table = Uint8Array.from(table);
    this.index = Uint32Array.from(index);
    this.order = Uint32Array.from(begin.keys()).sort((a, b) => begin[a] - begin[b]);
    this.n = this.order.length;
    this.found.textContent = plural(this.n, "event");
    this.spacer.style.height = `${Math.min(this.n * EVENT_ROW, EVENT_HEIGHT_MOST)}px`;
    this.draw();
  }

  isFound(found, row, i) {
    const t = row.table,
      isHold = t.name === "holds",
      what = isHold ? row.a : t.what[i] - 1;
    return (
      found.threads[isHold ? row.b : row.a] ||
      (found[t.name] || found.objects)[what] ||
      (t.site && t.site[i] > 0 && found.sites[t.site[i] - 1])
    );
  }

  // The row of a table that a span is in.
  rowAt(t, i) {
    let low = 0,
      high = t.rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (t.rows[middle].from <= i) low = middle;
      else high = middle - 1;
    }
    return t.rows[low];
  }

  // The number of the first row in view: more rows than can be scrolled through one by one are skipped in proportion.
  first(shown) {
    const most = Math.max(1, this.scroller.scrollHeight - this.scroller.clientHeight),
      share = Math.min(1, this.scroller.scrollTop / most);
    return this.n * EVENT_ROW <= EVENT_HEIGHT_MOST
      ? Math.floor(this.scroller.scrollTop / EVENT_ROW)
      : Math.round(share * Math.max(0, this.n - shown + 2));
  }

  draw() {
    const shown = Math.ceil(this.scroller.clientHeight / EVENT_ROW) + 1,
      first = Math.max(0, Math.min(this.first(shown), this.n - 1));
    this.body.style.transform = `translateY(${this.scroller.scrollTop - (this.n * EVENT_ROW <= EVENT_HEIGHT_MOST ? this.scroller.scrollTop % EVENT_ROW : 0)}px)`;
    const rows = [];
    for (let k = first; k < Math.min(this.n, first + shown); k++) rows.push(this.line(this.order[k], k));
    this.body.replaceChildren(...rows);
  }

  line(at, k) {
    const kind = EVENT_KINDS[this.table[at]][0],
      cells = kind === "marks" ? this.markCells(this.m.marks[this.index[at]]) : this.spanCells(kind, this.index[at]);
    return h(
      "div",
      {class: "event", role: "row", "aria-rowindex": k + 1},
      cells.map((cell) => h("span", {role: "cell"}, cell)),
    );
  }

  markCells([ns, thread, text]) {
    return [exact(ns), "", this.m.threads[thread].label, tr("mark: %1", tidy(text, 160)), ""];
  }

  spanCells(kind, i) {
    const m = this.m,
      t = m.tables[kind],
      row = this.rowAt(t, i),
      isHold = kind === "holds",
      thread = m.threads[isHold ? row.b : row.a],
      object = kind === "regions" ? null : isHold ? m.objects[row.a] : m.object(t.what[i]),
      region = kind === "regions" && t.what[i] ? tidy(m.regions[t.what[i] - 1].name, 120) : tr("several regions");
    if (kind === "calls") return this.callCells(row, i, thread);
    const what = kind === "regions" ? region : tr(isHold ? "holds %1" : "waits for %1", object ? object.title : tr("several"));
    return [
      linkTo(m, exact(t.begin[i]), {chosen: spanName(row, i)}),
      (t.flags[i] & UNFINISHED ? "\u2265\u202f" : "") + duration(t.ns[i]),
      thread.label,
      [object ? dot(object.color) : null, what, t.more[i] ? tr(" (%1 together)", count(t.more[i] + 1)) : ""],
      t.site ? m.siteText(t.site[i]) : "",
    ];
  }

  callCells(row, i, thread) {
    const m = this.m,
      t = m.tables.calls;
    return [
      linkTo(m, exact(t.begin[i]), {chosen: spanName(row, i)}),
      (t.flags[i] & UNFINISHED ? "\u2265\u202f" : "") + duration(t.ns[i]),
      thread.label,
      [dot(callColor(m, i)), callName(m, i) + peerText(m, i), t.more[i] ? tr(" (%1 together)", count(t.more[i] + 1)) : ""],
      m.siteText(t.site[i]),
    ];
  }
}
