// SPDX-License-Identifier: MIT
// The timeline: visible range, navigation, and selection.

const RULER = 24,
  LEAST_NS = 20,
  SHORTEST_NS = 1000,
  ARROWS_MOST = 60,
  DENSE_FROM = 24;

class Timeline {
  constructor(app) {
    this.app = app;
    this.m = app.recording;
    this.end = Math.max(1, this.m.length);
    this.view = this.whole();
    this.options = {
      dense: this.m.threads.length > DENSE_FROM,
      folded: new Set(foldedRanks(this.m)),
      wanted: null,
      sort: "",
      busy: false,
      pinned: new Set(),
    };
    this.chosen = null; // {row, index}
    this.hop = null; // chosen stretch of a critical path: {path, i}
    this.range = null; // measured: {a, b}
    this.searching = new Search(this);
    this.build();
    this.arrange();
    app.onTheme(() => this.redraw());
  }

  // --------------------------------------------------------------------------------------------- elements

  build() {
    this.search = h("input", {
      type: "search",
      placeholder: tr("Search threads, locks, regions, functions"),
      "aria-label": tr("Search threads, locks, regions and functions"),
      oninput: () => this.searching.look(this.search.value),
      onkeydown: (e) => {
        if (e.key === "Enter") this.next(e.shiftKey ? -1 : 1, true);
        if (e.key === "Escape") this.search.blur();
      },
    });
    this.found = h("span", {class: "found", role: "status"});
    this.measure = button(tr("Measure"), () => this.setMeasure(!this.measuring), {
      "aria-pressed": "false",
      title: tr("Drag over a stretch of time (or hold Shift and drag)"),
    });
    this.dense = button(tr("Dense"), () => this.setOption("dense", !this.options.dense), {
      "aria-pressed": "false",
      title: tr("More lanes, less in each"),
    });
    this.busy = button(tr("Hide idle"), () => this.setOption("busy", !this.options.busy), {
      "aria-pressed": "false",
      title: tr("Leave out threads that wait nearly all of their time"),
    });
    this.sort = h(
      "select",
      {"aria-label": tr("Order of threads"), title: tr("Order of threads"), onchange: () => this.setOption("sort", this.sort.value)},
      LANE_ORDERS.map(([key, title]) => h("option", {value: key}, title)),
    );
    this.path_button = button(tr("Critical path"), () => this.setPath(!this.path_shown), {
      "aria-pressed": "false",
      title: tr("What made the program last as long as it did (C)"),
    });
    this.path_button.hidden = !this.m.paths.some((p) => p.steps > 0);
    this.range_text = h("span", {class: "range"});
    const bar = h(
      "div",
      {class: "bar-tools"},
      this.search,
      this.found,
      h("span", {class: "space"}),
      this.range_text,
      button("\u2212", () => this.zoom(2), {"aria-label": tr("Zoom out"), title: tr("Zoom out (S or \u2212)")}),
      button("+", () => this.zoom(0.5), {"aria-label": tr("Zoom in"), title: tr("Zoom in (W or +)")}),
      button(tr("All"), () => this.showAll(), {title: tr("The whole recording (0)")}),
      this.path_button,
      this.measure,
      this.sort,
      this.busy,
      this.dense,
      button(
        "?",
        () => {
          this.help.hidden = !this.help.hidden;
        },
        {"aria-label": tr("Keys"), title: tr("Keys")},
      ),
    );
    this.mini_place = h("div", {class: "mini"});
    this.scroller = h("div", {class: "scroller"});
    this.spacer = h("div", {class: "spacer"});
    this.stage = h("div", {class: "stage"});
    this.scroller.append(this.stage, this.spacer);
    this.side = h("aside", {class: "side", tabindex: "0", "aria-live": "polite", "aria-label": tr("Details")});
    this.tip = h("div", {class: "tip", hidden: true});
    this.help = this.helpPanel();
    fill(byId("timeline"), [
      h("h2", {class: "unseen"}, tr("Timeline")),
      bar,
      this.mini_place,
      h("div", {class: "split"}, this.scroller, this.side),
      this.tip,
      this.help,
    ]);
    this.mini = canvasIn(this.mini_place, (c, w, hh) => this.drawMini(c, w, hh), {"aria-hidden": "true"});
    this.screen = canvasIn(this.stage, (c, w, hh) => this.draw(c, w, hh), {
      tabindex: "0",
      role: "application",
      "aria-label":
        tr("Timeline: a lane for each thread, then each lock, then each counter. W and S zoom, A and D move, N and P go from event to event, whose details are read out."),
    });
    this.hand = new Hand(this);
    this.showHints();
  }

  helpPanel() {
    const keys = [
      [tr("Wheel, W / S, + / \u2212"), tr("zoom")],
      [tr("Drag, A / D, \u2190 / \u2192"), tr("move in time")],
      [tr("Shift + wheel, \u2191 / \u2193"), tr("move among lanes")],
      [tr("Click"), tr("details of an event")],
      [tr("Double click, Enter"), tr("zoom to it")],
      ["N / P", tr("next, previous event of the row")],
      ["J / K", tr("the same moment in the next, previous lane")],
      [tr("Click on a name"), tr("what is known of the thread or lock; pin its lane to the top")],
      [tr("Shift + drag, M"), tr("measure a stretch of time")],
      ["/", tr("search; Enter goes to the next match")],
      ["C", tr("the critical path")],
      ["[ / ]", tr("the hop of the critical path before, after")],
      ["0", tr("the whole recording")],
      ["Esc", tr("let go")],
    ];
    return h(
      "div",
      {class: "help", hidden: true, role: "dialog", "aria-label": tr("Keys")},
      h("h3", null, tr("Keys")),
      h(
        "dl",
        {class: "facts"},
        keys.map(([key, what]) => h("div", null, h("dt", null, key), h("dd", null, what))),
      ),
      button(tr("Close"), () => {
        this.help.hidden = true;
      }),
    );
  }

  showHints() {
    if (this.path_shown) showPath(this);
    else this.showLegend();
  }

  showLegend() {
    const t = theme(),
      calm = this.m.objects.find((o) => o.calm && o.waitedNs > 0),
      lock = this.m.objects.find((o) => !o.calm && o.waitedNs > 0),
      told = this.m.tables.runs.n > 0;
    const line = (fillColor, alpha, size, text) =>
      h("div", {class: "legend"}, h("i", {style: {background: fillColor, opacity: alpha, height: size}}), text);
    replace(
      this.side,
      h("h3", null, tr("Nothing chosen")),
      h("p", {class: "dim"}, tr("Click anything in a lane for its times, its callers and its call stack.")),
      h("h4", null, tr("In the lanes of threads")),
      told
        ? line(t.run, 1, "5px", tr("running on a CPU"))
        : line(t.run, 1, "5px", tr("runs, or waits for what is not recorded")),
      told && line(t.warn, 1, "5px", tr("preempted: another one runs in its place")),
      line(lock ? lock.color : LOCK_COLORS[0], 1, "14px", tr("waits for a lock, in the lock's color")),
      line(calm ? calm.color : LOCK_COLORS[1], 0.35, "14px", tr("waits for a signal, a post, or a thread's end")),
      line(lock ? lock.color : LOCK_COLORS[0], 1, "4px", tr("below: the locks that it holds, as far as that is certain")),
      this.m.samples && line(sampleColor(this.m, 0, t.dark), 1, "6px", tr("samples, in a color for each function")),
      line(regionColor("compress", t.dark), 1, "14px", tr("regions of the program")),
      mpiLegend(this.m, line),
      h("h4", null, tr("In the lanes of locks")),
      line(threadColor(0, t.dark), 1, "14px", tr("who holds it")),
      line(lock ? lock.color : LOCK_COLORS[0], 0.5, "8px", tr("how many wait for it")),
      h(
        "p",
        {class: "dim"},
        tr("Arrows lead from the thread that released a lock, or signaled, to the one that continued."),
      ),
    );
  }

  // ------------------------------------------------------------------------------------------- arrangement

  // The whole recording, with a margin at both ends.
  whole() {
    const from = this.m.shown.from,
      to = Math.max(this.m.shown.to, from + SHORTEST_NS),
      room = Math.max(1, to - from) * 0.01,
      beyond = this.m.unfinished > 0 ? 5 : 1; // unfinished spans continue there
    return {from: from - room, to: to + beyond * room};
  }

  showAll() {
    const {from, to} = this.whole();
    this.show(from, to);
  }

  setOption(name, value) {
    this.options[name] = value;
    this.arrange();
  }

  togglePin(key) {
    if (!this.options.pinned.delete(key)) this.options.pinned.add(key);
    this.arrange();
  }

  arrange() {
    this.dense.setAttribute("aria-pressed", this.options.dense);
    this.busy.setAttribute("aria-pressed", this.options.busy);
    this.sort.value = this.options.sort;
    this.layout = layOut(this.m, this.options);
    this.spacer.style.height = `${this.layout.height + RULER}px`;
    this.redraw();
  }

  redraw() {
    this.screen.ask();
    this.mini.ask();
    if (this.path_summary) this.path_summary.ask();
    this.app.note();
  }

  show(from, to) {
    const span = Math.min(this.end * 1.5, Math.max(LEAST_NS, to - from)),
      middle = (from + to) / 2,
      slack = this.end * 0.05 + span * 0.5;
    const start = Math.min(this.end + slack - span, Math.max(-slack, middle - span / 2));
    this.view = {from: start, to: start + span};
    this.redraw();
  }

  zoom(factor, at = (this.view.from + this.view.to) / 2) {
    const {from, to} = this.view,
      span = Math.min(this.end * 1.5, Math.max(LEAST_NS, (to - from) * factor)),
      share = (at - from) / (to - from);
    this.show(at - share * span, at + (1 - share) * span);
  }

  move(share) {
    const by = (this.view.to - this.view.from) * share;
    this.show(this.view.from + by, this.view.to + by);
  }

  reveal(lane) {
    const top = this.scroller.scrollTop,
      height = this.scroller.clientHeight - RULER;
    if (lane && (lane.y < top || lane.y + lane.height > top + height))
      this.scroller.scrollTop = Math.max(0, lane.y - height / 3);
  }

  // --------------------------------------------------------------------------------------------- choosing

  choose(row, index, zoom) {
    this.chosen = row ? {row, index} : null;
    this.range = null;
    this.hop = null;
    if (row) {
      this.showDetails();
      const lane =
        row.table.name === "holds" && this.chosenLane === "object"
          ? this.layout.ofObject.get(row.a)
          : this.layout.ofThread.get(row.table.name === "holds" ? row.b : row.a);
      this.reveal(lane);
      const begin = row.table.begin[index],
        length = row.table.ns[index],
        {from, to} = this.view;
      if (zoom) this.show(begin - Math.max(length, 100), begin + length + Math.max(length, 100));
      else if (begin + length < from || begin > to)
        this.show(begin + length / 2 - (to - from) / 2, begin + length / 2 + (to - from) / 2);
    } else this.showHints();
    this.redraw();
  }

  showDetails() {
    const {row, index} = this.chosen,
      d = describe(this.m, row, index),
      i = index - row.from;
    replace(
      this.side,
      h("h3", null, d.title),
      h(
        "div",
        {class: "steps"},
        button("\u25c2", () => this.next(-1), {"aria-label": tr("Previous event of this row"), title: tr("Previous (P)")}),
        button("\u25b8", () => this.next(1), {"aria-label": tr("Next event of this row"), title: tr("Next (N)")}),
        button(tr("Zoom to it"), () => this.choose(row, index, true)),
        h("span", {class: "dim"}, tr("%1 of %2 in this row", count(i + 1), count(row.to - row.from))),
      ),
      facts(d.rows),
      d.samples ? sampledIn(this.m, ...d.samples) : "",
      d.stack || d.site ? [h("h4", null, tr("Call stack")), stackList(this.m, d.stack, d.site)] : "",
      d.holderStack ? [h("h4", null, tr("Acquired by the holder at")), stackList(this.m, d.holderStack, 0)] : "",
      d.wakerStack ? [h("h4", null, tr("Let go at")), stackList(this.m, d.wakerStack, 0)] : "",
      d.more || "",
    );
  }

  // A click on samples.
  showSamples(group) {
    this.chosen = null;
    this.range = null;
    this.hop = null;
    replace(this.side, samplesDetails(this.m, group));
    this.redraw();
  }

  // A click on the name of a lane.
  showLane(lane) {
    const key = laneKey(lane),
      pinned = this.options.pinned.has(key),
      m = this.m;
    this.chosen = null;
    this.range = null;
    this.hop = null;
    replace(
      this.side,
      h("h3", null, lane.title),
      h(
        "div",
        {class: "steps"},
        button(pinned ? tr("Unpin") : tr("Pin to the top"), () => {
          this.togglePin(key);
          this.showLane(lane);
        }),
      ),
      lane.thread ? threadDetails(m, lane.thread) : objectDetails(m, lane.object),
    );
    this.redraw();
  }

  // The span at the middle of the chosen one in the next lane that has one; the first lane in view without a choice.
  nextLane(way) {
    if (!this.chosen) {
      this.next(1);
      return;
    }
    const {row, index} = this.chosen,
      ns = row.table.begin[index] + row.table.ns[index] / 2,
      lanes = this.layout.lanes.filter((l) => l.kind === "thread" || l.kind === "object"),
      kind = row.table.name === "holds" && this.chosenLane === "object" ? "object" : "thread",
      at = lanes.findIndex((l) => l.kind === kind && l.strips.some((s) => s.rows.includes(row)));
    for (let i = at + way; i >= 0 && i < lanes.length; i += way) {
      for (const other of lanes[i].strips.flatMap((s) => s.rows)) {
        const found = spanNear(other, ns, this.view.to - this.view.from);
        if (found < 0) continue;
        this.chosenLane = lanes[i].kind;
        this.choose(other, found);
        return;
      }
    }
  }

  // The next event of the chosen row; with a search, the next one that it matches.
  next(way, searching) {
    if (searching && this.searching.find) {
      this.searching.next(way);
      return;
    }
    if (!this.chosen) {
      const rows = this.layout.lanes.flatMap((l) => l.strips.flatMap((s) => s.rows)),
        row = rows.find((r) => r.to > r.from);
      if (row)
        this.choose(row, Math.min(row.to - 1, above(row.table.begin, Math.max(0, this.view.from), row.from, row.to)));
      return;
    }
    const {row, index} = this.chosen;
    this.choose(row, Math.max(row.from, Math.min(row.to - 1, index + way)));
  }

  // ----------------------------------------------------------------------------------------------- drawing

  draw(c, width, height) {
    const began = performance.now(),
      t = theme(),
      m = this.m,
      left = GUTTER,
      pen = new Pen(c, this.view, left, width - left),
      top = this.scroller.scrollTop - RULER;
    const dim = (table, i, object) =>
      table.name === "holds" ? this.searching.isDimObject(object) : this.searching.isDim(table, i);
    const looks = {
      wait: waitLook(m, dim),
      held: heldLook(m, dim),
      holder: holderLook(m, dim),
      region: regionLook(m, dim),
      run: runLook(m),
      call: m.mpi ? callLook(m, dim) : null,
      isDimSample: (number) => this.searching.isDimSample(number),
    };
    c.fillStyle = t.lane;
    c.fillRect(0, 0, width, height);
    c.font = `11px ${t.font}`;
    c.textBaseline = "middle";
    c.textAlign = "left";
    this.drawGrid(pen, height);
    const seen = this.layout.lanes.filter((l) => l.y + l.height > top + RULER && l.y < top + height);
    c.save();
    c.beginPath();
    c.rect(left, 0, width - left, height);
    c.clip();
    this.drawEnds(pen, height);
    let messages = 0;
    const inside = m.window ? this.insideWindow(c, pen) : pen;
    if (inside.width > 0) {
      c.beginPath();
      c.rect(inside.left, 0, inside.width, height);
      c.clip();
      for (const lane of seen) this.drawLane(inside, lane, lane.y - top, looks);
      if (this.path_shown) for (const path of this.m.paths) drawPath(inside, this, path, top);
      if (m.mpi) {
        drawBands(inside, this, top);
        messages = drawMessages(inside, this, top, height);
      }
      this.drawArrows(inside, seen, top);
      this.drawChosen(inside, seen, top);
    }
    c.restore();
    c.fillStyle = t.line;
    c.fillRect(left - 1, 0, 1, height);
    for (const lane of seen) {
      if (lane.kind === "head") drawHead(c, lane, lane.y - top, width);
      else
        drawLabel(
          c,
          lane,
          lane.y - top,
          this.chosen &&
            lane.thread &&
            this.chosen.row.table.name !== "holds" &&
            this.chosen.row.a === lane.thread.index,
          this.view,
        );
      c.fillStyle = t.line;
      c.fillRect(0, Math.round(lane.y - top + lane.height) - 1, width, 1);
    }
    this.drawRuler(pen, width);
    this.drawRange(pen, height);
    const shown = duration(this.view.to - this.view.from);
    this.range_text.textContent = m.mpi ? tr("%1 in view, %2", shown, plural(messages, "message")) : tr("%1 in view", shown);
    this.frame_ms = performance.now() - began;
  }

  drawLane(pen, lane, y, looks) {
    if (lane.kind === "thread") drawThread(pen, this.m, lane, y, looks);
    if (lane.kind === "object") drawObject(pen, this.m, lane, y, looks);
    if (lane.kind === "counter") drawCounter(pen, this.m, lane, y);
  }

  // What lies beyond the time window is known of a few spans alone, and is not shown of those either.
  insideWindow(c, pen) {
    const {from, to} = this.m.shown,
      x0 = Math.max(pen.left, pen.x(from)),
      x1 = Math.min(pen.left + pen.width, pen.x(to));
    return new Pen(c, {from: Math.max(pen.from, from), to: Math.min(pen.to, to)}, x0, x1 - x0);
  }

  drawGrid(pen, height) {
    pen.c.fillStyle = theme().grid;
    axisMarks(this.view.from, this.view.to, pen.width, (x) => pen.c.fillRect(Math.round(pen.left + x), 0, 1, height));
  }

  // Nothing is kept before the time window and after it.
  drawEnds(pen, height) {
    const c = pen.c,
      x0 = pen.x(this.m.shown.from),
      x1 = pen.x(Math.max(this.m.shown.to, 1));
    c.fillStyle = theme().shade;
    c.globalAlpha = 0.7;
    if (x0 > pen.left) c.fillRect(pen.left, 0, x0 - pen.left, height);
    if (x1 < pen.left + pen.width) c.fillRect(x1, 0, pen.left + pen.width - x1, height);
    c.globalAlpha = 1;
  }

  drawRuler(pen, width) {
    const c = pen.c,
      t = theme();
    c.fillStyle = t.panel;
    c.fillRect(0, 0, width, RULER);
    c.fillStyle = t.line;
    c.fillRect(0, RULER - 1, width, 1);
    axisMarks(this.view.from, this.view.to, pen.width, (x, label) => {
      c.fillStyle = t.line;
      c.fillRect(Math.round(pen.left + x), RULER - 7, 1, 6);
      c.fillStyle = t.dim;
      if (x + 60 < pen.width) c.fillText(label, pen.left + x + 4, RULER / 2);
    });
    c.fillStyle = t.panel;
    c.fillRect(0, 0, pen.left, RULER - 1);
    c.fillStyle = t.dim;
    c.fillText(tr("since the recording began"), 12, RULER / 2);
  }

  drawRange(pen, height) {
    if (!this.range) return;
    const c = pen.c,
      t = theme(),
      x0 = Math.max(pen.left, pen.x(Math.min(this.range.a, this.range.b))),
      x1 = Math.min(pen.left + pen.width, pen.x(Math.max(this.range.a, this.range.b)));
    if (x1 < x0) return;
    c.fillStyle = t.accent;
    c.globalAlpha = 0.14;
    c.fillRect(x0, 0, x1 - x0, height);
    c.globalAlpha = 1;
    c.fillRect(x0, 0, 1, height);
    c.fillRect(x1, 0, 1, height);
    const text = duration(Math.abs(this.range.b - this.range.a)),
      wide = c.measureText(text).width + 14,
      at = Math.max(pen.left, Math.min((x0 + x1 - wide) / 2, pen.left + pen.width - wide));
    c.fillRect(at, 3, wide, RULER - 7);
    c.fillStyle = inkOn(t.accent);
    c.fillText(text, at + 7, RULER / 2 - 0.5);
  }

  // Arrows of the waits that end in view, if they are few enough to be distinguished; that of the chosen wait always.
  drawArrows(pen, seen, top) {
    const w = this.m.tables.waits,
      found = [];
    for (const lane of seen) {
      for (const row of lane.kind === "thread" ? lane.strips[0].rows : []) {
        for (
          let i = Math.max(row.from, above(w.begin, this.view.from, row.from, row.to) - 1);
          i < row.to && w.begin[i] < this.view.to && found.length <= ARROWS_MOST;
          i++
        )
          if (
            w.waker[i] &&
            w.begin[i] + w.ns[i] > this.view.from &&
            w.begin[i] + w.ns[i] < this.view.to &&
            w.ns[i] * pen.scale > 3
          )
            found.push([row, i]);
      }
    }
    if (found.length <= ARROWS_MOST) for (const [row, i] of found) this.drawArrow(pen, row, i, top, false);
    if (this.chosen && this.chosen.row.table === w) this.drawArrow(pen, this.chosen.row, this.chosen.index, top, true);
  }

  drawArrow(pen, row, i, top, strong) {
    const w = row.table,
      from = w.waker[i] ? this.layout.ofThread.get(w.waker[i] - 1) : null,
      to = this.layout.ofThread.get(row.a);
    if (!from || !to) return;
    const end = w.begin[i] + w.ns[i],
      middle = (lane) => lane.y - top + lane.strips[0].y + lane.strips[0].height / 2,
      down = to.y > from.y ? -1 : 1;
    drawArrow(
      pen,
      pen.x(end - w.wakerNs[i]),
      middle(from),
      pen.x(end),
      middle(to) + (down * to.strips[0].height) / 2,
      strong,
    );
  }

  drawChosen(pen, seen, top) {
    if (!this.chosen) return;
    const {row, index} = this.chosen,
      t = row.table,
      c = pen.c;
    for (const lane of seen) {
      for (const strip of lane.strips.filter((s) => s.rows.includes(row))) {
        const x0 = Math.max(pen.left - 4, pen.x(t.begin[index])),
          x1 = Math.min(pen.left + pen.width + 4, pen.x(t.begin[index] + t.ns[index]));
        if (x1 < pen.left || x0 > pen.left + pen.width) continue;
        c.strokeStyle = theme().ink;
        c.lineWidth = 2;
        c.strokeRect(x0 - 1, lane.y - top + strip.y - 1, Math.max(3, x1 - x0 + 1), strip.height + 2);
      }
    }
  }

  drawMini(c, width, height) {
    const t = theme(),
      left = GUTTER,
      wide = width - left;
    this.layers = this.layers || contention(this.m, 500);
    this.most = this.most || Math.max(1, mostBlocked(this.layers));
    c.fillStyle = t.panel;
    c.fillRect(0, 0, width, height);
    const shown = (ns) => left + (ns / this.end) * wide,
      {from, to} = this.m.shown;
    drawLayers(c, this.layers, shown(from), 4, Math.max(1, shown(to) - shown(from)), height - 5, this.most);
    c.font = `11px ${t.font}`;
    c.textBaseline = "middle";
    c.fillStyle = t.dim;
    c.fillText(tr("blocked threads"), 12, height / 2);
    const x0 = left + Math.max(0, this.view.from / this.end) * wide,
      x1 = left + Math.min(1, this.view.to / this.end) * wide;
    c.fillStyle = t.panel;
    c.globalAlpha = 0.72;
    c.fillRect(left, 0, x0 - left, height);
    c.fillRect(x1, 0, left + wide - x1, height);
    c.globalAlpha = 1;
    c.strokeStyle = t.accent;
    c.lineWidth = 1.5;
    c.strokeRect(x0 + 0.75, 0.75, Math.max(2, x1 - x0 - 1.5), height - 1.5);
  }

  fold(key) {
    const folded = this.options.folded;
    if (!folded.delete(key)) folded.add(key);
    this.arrange();
  }

  setPath(on) {
    const before = Boolean(this.path_shown);
    this.path_shown = on;
    this.path_button.setAttribute("aria-pressed", on);
    if (on !== before && !this.chosen && !this.range) this.choose(null);
    else this.redraw();
  }

  setMeasure(on) {
    this.measuring = on;
    this.measure.setAttribute("aria-pressed", on);
  }

  showRange() {
    this.chosen = null;
    this.hop = null;
    this.range = {a: Math.min(this.range.a, this.range.b), b: Math.max(this.range.a, this.range.b)};
    replace(
      this.side,
      measuredDetails(this.m, this.range.a, this.range.b),
      h(
        "div",
        {class: "steps"},
        button(tr("Zoom to it"), () => this.show(this.range.a, this.range.b)),
        button(tr("Show it in all views"), () => this.app.showCut(this.range.a, this.range.b), {
          title: tr("Overview, regions and functions of this stretch of time alone"),
        }),
      ),
    );
    this.redraw();
  }

  // ------------------------------------------------------------------------------------------------ address

  // What is shown, as an address has it: without what is as at first.
  state() {
    const whole = this.whole(),
      {from, to} = this.view,
      moved = Math.abs(from - whole.from) + Math.abs(to - whole.to) > (to - from) / 1e6,
      o = this.options;
    return {
      from: moved ? from : NaN,
      to: moved ? to : NaN,
      chosen: this.chosen ? spanName(this.chosen.row, this.chosen.index) : "",
      q: this.search.value,
      sort: o.sort,
      pinned: [...o.pinned].join("."),
      path: Boolean(this.path_shown),
      dense: o.dense,
      busy: o.busy,
    };
  }

  first() {
    const whole = this.whole();
    return {...whole, chosen: "", q: "", sort: "", pinned: "", path: false, dense: this.options.dense, busy: false};
  }

  // Shows what `where` names: keys of state(), or the number of a thread or object whose lane is wanted.
  restore(where) {
    const o = this.options;
    if (where.q !== undefined && where.q !== this.search.value) this.searching.set(where.q);
    if (where.pinned !== undefined) o.pinned = new Set(where.pinned.split(".").filter(Boolean));
    if (where.sort !== undefined) o.sort = LANE_ORDERS.some(([key]) => key === where.sort) ? where.sort : "";
    for (const flag of ["dense", "busy"]) if (where[flag] !== undefined) o[flag] = where[flag];
    if (where.path !== undefined) this.setPath(where.path);
    this.arrange();
    if (where.chosen !== undefined) {
      const found = spanNamed(this.m, where.chosen);
      if (found) this.choose(found.row, found.index);
      else if (this.chosen) this.choose(null);
    }
    if (where.from !== undefined && where.to > where.from) this.show(where.from, where.to);
    this.goToLane(where);
  }

  laneOf(where) {
    return where.thread !== undefined
      ? this.layout.ofThread.get(where.thread)
      : where.object !== undefined
        ? this.layout.ofObject.get(where.object)
        : null;
  }

  // What is searched for, and idle threads, may hide the lane that is wanted.
  goToLane(where) {
    if (where.thread === undefined && where.object === undefined) return;
    if (!this.laneOf(where)) this.restore({q: "", busy: false});
    const lane = this.laneOf(where);
    if (!lane) return;
    if (!where.chosen) this.showLane(lane);
    requestAnimationFrame(() => {
      this.scroller.scrollTop = Math.max(0, lane.y - 60);
    });
  }
}

// How wide a canvas's time is.
function canvasWidth(timeline) {
  return Math.max(1, timeline.screen.canvas.clientWidth - GUTTER);
}
