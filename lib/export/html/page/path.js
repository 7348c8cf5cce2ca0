// SPDX-License-Identifier: MIT
// Critical path: its steps merged by thread, sums of any part of it, its drawing at any zoom, and its panel.

const STRETCH_PX = 5, // shorter stretches are drawn as shares of their threads
  PATH_BIN_PX = 4,
  PATH_BINS = 480,
  PATH_THREADS = 11;

// Consecutive steps of one thread as one stretch, as columns; waker and object (each plus one) are those of the hop to it.
function mergeSteps(row) {
  const s = {thread: [], begin: [], ns: [], run: [], wake: [], unknown: [], stopped: [], waker: [], object: []},
    parts = [s.run, s.wake, s.unknown, s.stopped];
  for (let i = 0; i < row.begin.length; i++) {
    let last = s.thread.length - 1;
    if (last < 0 || s.thread[last] !== row.thread[i]) {
      last++;
      s.thread.push(row.thread[i]);
      s.begin.push(row.begin[i]);
      s.ns.push(0);
      s.waker.push(row.waker[i]);
      s.object.push(row.object[i]);
      for (const part of parts) part.push(0);
    }
    parts[row.kind[i]][last] += row.ns[i];
    s.ns[last] += row.ns[i];
  }
  return s;
}

// The stretches of a path, made when they are first asked for.
function stretches(path) {
  if (!path.merged) path.merged = mergeSteps(path.row);
  return path.merged;
}

// ---------------------------------------------------------------------------------------------------- sums

function cutPath(m, path, from, to) {
  const row = path.row,
    kept = {begin: [], ns: [], kind: [], thread: [], waker: [], object: []},
    sums = [0, 0, 0, 0],
    first = Math.max(0, above(row.begin, from, 0, row.begin.length) - 1);
  for (let i = first; i < row.begin.length && row.begin[i] < to; i++) {
    const begin = Math.max(from, row.begin[i]),
      ns = Math.min(to, row.begin[i] + row.ns[i]) - begin;
    if (ns <= 0) continue;
    kept.begin.push(begin);
    kept.ns.push(ns);
    for (const column of ["kind", "thread", "waker", "object"]) kept[column].push(row[column][i]);
    sums[row.kind[i]] += ns;
  }
  const n = kept.begin.length;
  return {
    ...path,
    row: kept,
    merged: null,
    steps: n,
    early: 0,
    begin: n ? kept.begin[0] : from,
    end: n ? kept.begin[n - 1] + kept.ns[n - 1] : from,
    run_ns: sums[0],
    wake_ns: sums[1],
    unknown_ns: sums[2],
    stopped_ns: sums[3],
    hops: kept.thread.reduce((sum, t, i) => sum + (i > 0 && t !== kept.thread[i - 1]), 0),
    objects: pathObjects(m, path, kept),
  };
}

// How long threads of the path ran, or waited in a call, by thread, as a function of time: {begin, ns, sum (before each)}.
function runsOnPath(m, row) {
  const by = new Map();
  for (let i = 0; i < row.begin.length; i++) {
    const calls = row.kind[i] !== STEP_WAKES && row.object[i] && m.objects[row.object[i] - 1].call;
    if (row.kind[i] !== STEP_RUNS && !calls) continue;
    const runs = entry(by, row.thread[i], () => ({begin: [], ns: [], sum: [], all: 0}));
    runs.begin.push(row.begin[i]);
    runs.ns.push(row.ns[i]);
    runs.sum.push(runs.all);
    runs.all += row.ns[i];
  }
  return by;
}

function ranBefore(runs, ns) {
  const i = above(runs.begin, ns, 0, runs.begin.length) - 1;
  return i < 0 ? 0 : runs.sum[i] + Math.min(runs.ns[i], ns - runs.begin[i]);
}

// Objects of a part of a path: held while their holder ran on it, and the hops through them. Gains are of the whole run only.
function pathObjects(m, path, row) {
  const by = new Map(),
    runs = runsOnPath(m, row),
    gains = new Map(path.objects.map((o) => [o.object, o])),
    of = (object) =>
      entry(by, object, () => ({object, held_ns: 0, wakes: 0, wake_ns: 0, unknown_ns: 0, gain_ns: null, gain_half_ns: null, whole: gains.get(object)}));
  for (const holds of m.tables.holds.rows) {
    const ran = runs.get(holds.b),
      t = holds.table;
    if (!ran) continue;
    const first = ran.begin[0],
      last = ran.begin.length - 1,
      end = ran.begin[last] + ran.ns[last];
    for (let i = Math.max(holds.from, above(t.begin, first, holds.from, holds.to) - 1); i < holds.to && t.begin[i] < end; i++) {
      const ns = ranBefore(ran, t.begin[i] + t.ns[i]) - ranBefore(ran, t.begin[i]);
      if (ns > 0) of(holds.a).held_ns += ns * (t.ns[i] ? 1 - t.idle[i] / t.ns[i] : 1);
    }
  }
  for (let i = 0; i < row.begin.length; i++) {
    if (!row.object[i]) continue;
    const o = of(row.object[i] - 1);
    if (row.kind[i] === STEP_WAKES) {
      o.wakes++;
      o.wake_ns += row.ns[i];
    } else if (row.kind[i] !== STEP_RUNS) o.unknown_ns += row.ns[i];
  }
  return [...by.values()].sort((a, b) => b.held_ns - a.held_ns || b.wake_ns - a.wake_ns);
}

// Threads of a path with their parts of it, the largest first.
function pathThreads(path) {
  const s = stretches(path),
    by = new Map();
  s.thread.forEach((thread, i) => {
    const t = entry(by, thread, () => ({thread, ns: 0, run: 0, wake: 0, unknown: 0, hops: 0}));
    for (const key of ["run", "wake", "unknown"]) t[key] += s[key][i];
    t.ns += s.ns[i] - s.stopped[i];
    t.hops += i > 0;
  });
  return [...by.values()].sort((a, b) => b.ns - a.ns);
}

// ------------------------------------------------------------------------------------------------- drawing

// Along the lanes of threads: a stretch as a line, and one from lane to lane at each hop. Where stretches are too short for
// that, each lane has bars as high as its thread's share of the path at that time.
function drawPath(pen, timeline, path, top) {
  const s = stretches(path),
    c = pen.c,
    strip = (thread) => {
      const lane = timeline.layout.ofThread.get(thread);
      return lane ? {y: lane.y - top + lane.strips[0].y, height: lane.strips[0].height} : null;
    },
    dense = new Map();
  c.strokeStyle = c.fillStyle = theme().accent;
  c.lineWidth = 3;
  c.lineJoin = "round";
  c.beginPath();
  let last = null; // {x, y} at the end of the line so far
  for (let i = Math.max(0, above(s.begin, pen.from, 0, s.begin.length) - 1); i < s.begin.length && s.begin[i] < pen.to; i++) {
    const x0 = pen.x(s.begin[i]),
      x1 = x0 + s.ns[i] * pen.scale;
    if (x1 - x0 < STRETCH_PX) {
      spreadShare(entry(dense, s.thread[i], () => new Float64Array(Math.ceil(pen.width / PATH_BIN_PX) + 1)), x0 - pen.left, x1 - pen.left);
      last = null;
      continue;
    }
    const at = strip(s.thread[i]),
      y = at && at.y + at.height / 2;
    if (at) {
      if (last) c.lineTo(x0, y);
      else c.moveTo(x0, y);
      c.lineTo(x1, y);
    }
    last = at ? {x: x1, y} : null;
  }
  c.stroke();
  for (const [thread, bins] of dense) {
    const at = strip(thread);
    if (!at) continue;
    bins.forEach((px, i) => {
      const high = Math.max(1, (at.height * Math.min(PATH_BIN_PX, px)) / PATH_BIN_PX);
      if (px > 0) c.fillRect(pen.left + i * PATH_BIN_PX, at.y + at.height - high, PATH_BIN_PX - 1, high);
    });
  }
  drawHop(pen, timeline, path, strip);
}

// Adds the pixels between two places to their bins.
function spreadShare(bins, x0, x1) {
  const end = Math.min(x1, (bins.length - 1) * PATH_BIN_PX);
  for (let x = Math.max(0, x0); x < end;) {
    const i = Math.floor(x / PATH_BIN_PX),
      next = Math.min(end, (i + 1) * PATH_BIN_PX);
    bins[i] += next - x;
    x = next;
  }
}

// The chosen stretch.
function drawHop(pen, timeline, path, strip) {
  const {hop} = timeline;
  if (!hop || hop.path !== path) return;
  const s = stretches(path),
    at = strip(s.thread[hop.i]),
    x0 = Math.max(pen.left - 4, pen.x(s.begin[hop.i])),
    x1 = Math.min(pen.left + pen.width + 4, pen.x(s.begin[hop.i] + s.ns[hop.i]));
  if (!at || x1 < pen.left || x0 > pen.left + pen.width) return;
  pen.c.strokeStyle = theme().ink;
  pen.c.lineWidth = 2;
  pen.c.strokeRect(x0 - 1, at.y - 2, Math.max(4, x1 - x0 + 2), at.height + 4);
}

// ------------------------------------------------------------------------------------------- side of the timeline

const PATH_PARTS = [
  ["run", "run_ns", tr("threads that did not wait")],
  ["wake", "wake_ns", tr("from a release or signal until the waiter continued")],
  ["unknown", "unknown_ns", tr("waits that no recorded thread ended")],
  ["stopped", "stopped_ns", tr("while nothing was recorded")],
];

// How long a path is without the time that was not recorded (stops, lost events), which few paths have.
function pathLength(path) {
  return path.end - path.begin + path.early - (path.stopped_ns || 0);
}

function pathBar(path, whole) {
  const parts = PATH_PARTS.filter(([kind, key]) => kind !== "stopped" || path[key]);
  return [
    h(
      "span",
      {class: "bar path"},
      parts.slice(0, 3).map(([kind, key, words]) =>
        h("i", {class: kind, style: {width: `${(100 * path[key]) / whole}%`}, title: `${words}: ${duration(path[key])}`}),
      ),
    ),
    h(
      "div",
      {class: "key"},
      parts.map(([kind, key, words]) => h("span", null, h("i", {class: `part ${kind}`}), `${duration(path[key])} ${words}`)),
    ),
  ];
}

function hopButtons(timeline) {
  return h(
    "div",
    {class: "steps"},
    button("\u25c2", () => nextHop(timeline, -1), {"aria-label": tr("Previous hop"), title: tr("Previous hop ([)")}),
    button("\u25b8", () => nextHop(timeline, 1), {"aria-label": tr("Next hop"), title: tr("Next hop (])")}),
    h("span", {class: "dim"}, tr("from hop to hop")),
  );
}

// The part of the paths that is in view, beside the lanes; it follows the view.
function showPath(timeline) {
  const place = h("div"),
    made = {};
  function now() {
    clearTimeout(made.timer);
    made.timer = 0;
    if (timeline.path_summary !== made || !place.isConnected) {
      if (timeline.path_summary === made) timeline.path_summary = null;
      return;
    }
    replace(
      place,
      timeline.m.paths
        .map((path) => cutPath(timeline.m, path, timeline.view.from, timeline.view.to))
        .filter((path) => path.steps > 0)
        .map((path) => pathSummary(timeline.m, path)),
    );
  }
  made.ask = () => {
    if (!made.timer) made.timer = setTimeout(now, 120);
  };
  replace(timeline.side, h("h3", null, tr("Critical path in view")), hopButtons(timeline), place);
  timeline.path_summary = made;
  now();
}

function pathSummary(m, path) {
  const whole = Math.max(1, pathLength(path));
  return [
    h("p", {class: "dim"}, tr("%1, %2 from thread to thread", duration(whole), plural(path.hops, "hop"))),
    path.job ? null : pathBar(path, whole),
    h("h4", null, tr("Threads")),
    table(
      [
        {title: tr("Thread"), value: (t) => m.threads[t.thread].label, cell: (t) => threadLink(m, m.threads[t.thread])},
        {title: tr("Share"), value: (t) => t.ns, cell: (t) => percent(t.ns, whole), number: true},
      ],
      pathThreads(path),
      {most: 6},
    ),
    h("h4", null, tr("Held on it")),
    table(
      [
        {title: tr("Object"), value: (o) => m.objects[o.object].title, cell: (o) => objectLink(m, m.objects[o.object])},
        {title: tr("Held"), value: (o) => o.held_ns, cell: (o) => duration(o.held_ns), number: true},
        {
          title: tr("Whole run: gain"),
          hint: tr("how much shorter the whole run would be without its sections"),
          value: (o) => o.whole?.gain_ns ?? -1,
          cell: (o) => duration(o.whole?.gain_ns),
          number: true,
        },
      ],
      path.objects.filter((o) => o.held_ns > 0),
      {most: 6, empty: tr("No lock was held on it.")},
    ),
  ];
}

// Chooses the next stretch of the critical path; at first the one in the middle of the view.
function nextHop(timeline, way) {
  const {hop, view, m} = timeline,
    path = hop ? hop.path : m.paths.find((p) => p.steps > 0 && p.begin < view.to && p.end > view.from);
  if (!path) return;
  if (!timeline.path_shown) timeline.setPath(true);
  const s = stretches(path),
    middle = Math.max(0, above(s.begin, (view.from + view.to) / 2, 0, s.begin.length) - 1),
    i = hop ? Math.max(0, Math.min(s.begin.length - 1, hop.i + way)) : middle;
  timeline.chosen = timeline.range = null;
  timeline.hop = {path, i};
  const {from, to} = timeline.view,
    end = s.begin[i] + s.ns[i];
  // Near enough to be seen as a line.
  const span = Math.min(to - from, (s.ns[i] * canvasWidth(timeline)) / STRETCH_PX / 2);
  if (span < to - from || s.begin[i] < from || end > to) {
    const at = (s.begin[i] + end) / 2,
      wide = Math.max(span, s.ns[i] * 1.2);
    timeline.show(at - wide / 2, at + wide / 2);
  }
  timeline.reveal(timeline.layout.ofThread.get(s.thread[i]));
  showHop(timeline);
  timeline.redraw();
}

function showHop(timeline) {
  const {m, hop} = timeline,
    s = stretches(hop.path),
    i = hop.i,
    end = s.begin[i] + s.ns[i],
    waker = m.thread(s.waker[i]),
    object = m.object(s.object[i]),
    held = cutPath(m, hop.path, s.begin[i], end).objects.filter((o) => o.held_ns > 0);
  replace(
    timeline.side,
    h("h3", null, tr("On the critical path")),
    hopButtons(timeline),
    facts([
      [tr("Stretch"), tr("%1 of %2", count(i + 1), count(s.thread.length))],
      [tr("Thread"), threadLink(m, m.threads[s.thread[i]])],
      [tr("From"), exact(s.begin[i])],
      [tr("To"), exact(end)],
      [tr("Lasted"), h("b", null, duration(s.ns[i]))],
      [tr("Running"), s.run[i] ? duration(s.run[i]) : null],
      [tr("Being woken"), s.wake[i] ? duration(s.wake[i]) : null],
      [tr("Waiting"), s.unknown[i] ? tr("%1, ended by no recorded thread", duration(s.unknown[i])) : null],
      [tr("Not recorded"), s.stopped[i] ? duration(s.stopped[i]) : null],
      waker ? [tr("Woken by"), threadLink(m, waker)] : null,
      object ? [tr("After a wait for"), objectLink(m, object)] : null,
      held.length ? [tr("Held"), held.map((o) => h("div", null, objectLink(m, m.objects[o.object]), ` ${duration(o.held_ns)}`))] : null,
    ]),
  );
}

// ---------------------------------------------------------------------------------------------------- panel

// How long a thread was on a CPU, by its switches, or as the kernel counted it until its end; null if unknown.
function onCpu(t) {
  return t.sched && !t.sched.unknown_ns ? t.sched.running_ns : t.cpu_ns;
}

// The same during the recording: the main thread has run before.
function onCpuRecorded(m, t) {
  const clock = m.counters.findIndex((c) => c.name === "task-clock"),
    sum = t.counters[clock]?.sum;
  return sum?.status === "exact" && !t.sched ? sum.value : onCpu(t);
}

// Threads whose part of the path is mostly neither work nor a wait on record: a hint that there is no work to find.
function pathDoubts(m, path) {
  return pathThreads(path).map(({thread, run: ns}) => {
    const t = m.threads[thread],
      cpu = t && onCpuRecorded(m, t);
    if (!t || cpu === null || ns < 1e6 || cpu >= ns / 2) return null;
    const ready = t.ready_ns ?? 0;
    if (cpu + ready >= ns / 2)
      return h(
        "p",
        {class: "note"},
        tr("%1 was on a CPU for %2 in all, yet %3 of the path is its own: it was ready to run without a CPU for %4 in all.", t.label, duration(cpu), duration(ns), duration(ready)),
      );
    return h(
      "p",
      {class: "note"},
      tr(
        "%1 was on a CPU for %2 in all, yet %3 of the path is its own: the rest was preemption, or waits that are not recorded, as for pages of memory.",
        t.label,
        duration(cpu),
        duration(ns),
      ),
    );
  });
}

// Which threads the path is in, over time: one layer for each of those with the largest parts.
function pathLayers(path, threads) {
  const s = stretches(path),
    begin = path.begin - path.early,
    scale = PATH_BINS / Math.max(1, path.end - begin),
    layers = threads.slice(0, PATH_THREADS).map((t) => ({thread: t.thread, bins: new Float64Array(PATH_BINS)})),
    others = {thread: -1, bins: new Float64Array(PATH_BINS)},
    of = new Map(layers.map((l) => [l.thread, l]));
  s.thread.forEach((thread, i) => {
    const {bins} = of.get(thread) || others,
      to = Math.min(PATH_BINS, (s.begin[i] + s.ns[i] - begin) * scale);
    for (let x = (s.begin[i] - begin) * scale; x < to;) {
      const next = Math.min(to, Math.floor(x) + 1);
      bins[Math.floor(x)] += next - x;
      x = next;
    }
  });
  return threads.length > layers.length ? [...layers, others] : layers;
}

function pathChart(app, path, threads) {
  const m = app.model,
    layers = pathLayers(path, threads),
    color = (l) => (l.thread < 0 ? OTHER_COLOR : threadColor(m.threads[l.thread].index, theme().dark)),
    place = h("div", {class: "chart strip", role: "img", "aria-label": tr("Threads of the critical path over time; the table below has the numbers.")}),
    chart = canvasIn(place, (c, width, height) => {
      c.fillStyle = theme().panel;
      c.fillRect(0, 0, width, height);
      for (let i = 0; i < PATH_BINS; i++) {
        const x = Math.round((i * width) / PATH_BINS),
          wide = Math.round(((i + 1) * width) / PATH_BINS) - x;
        let y = height;
        for (const l of layers) {
          const high = Math.min(1, l.bins[i]) * height;
          c.fillStyle = color(l);
          y -= high;
          if (high > 0) c.fillRect(x, y, wide, high);
        }
      }
    }),
    key = h("div", {class: "key"}),
    drawKey = () =>
      replace(key, layers.map((l) => h("span", null, h("i", {style: {background: color(l)}}), l.thread < 0 ? tr("others") : m.threads[l.thread].label)));
  drawKey();
  chart.canvas.addEventListener("click", (e) => {
    const length = path.end - path.begin,
      at = path.begin + (e.offsetX / chart.canvas.clientWidth) * length;
    app.show("timeline", {path: true, from: at - length / 40, to: at + length / 40});
  });
  app.onTheme(() => {
    chart.ask();
    drawKey();
  });
  return [place, key];
}

function pathThreadTable(app, path, threads, whole) {
  const m = app.model,
    time = (title, key) => ({title, value: (t) => t[key], cell: (t) => (t[key] ? duration(t[key]) : "\u2013"), number: true});
  return table(
    [
      {title: tr("Thread"), value: (t) => m.threads[t.thread].label, class: "name"},
      time(tr("On the path"), "ns"),
      {title: tr("Share"), value: (t) => t.ns, cell: (t) => percent(t.ns, whole), number: true},
      time(tr("Running"), "run"),
      time(tr("Being woken"), "wake"),
      time(tr("Waiting for no thread"), "unknown"),
      {title: tr("Hops to it"), value: (t) => t.hops, cell: (t) => count(t.hops), number: true},
    ],
    threads,
    {most: 8, onrow: (t) => app.show("timeline", {path: true, thread: t.thread})},
  );
}

function pathObjectTable(app, path, whole) {
  const m = app.model,
    gain = (o, key) => (m.isCut ? o.whole?.[key] : o[key]) ?? null,
    note = m.isCut ? tr(" (whole run)") : "";
  return table(
    [
      {title: tr("Object"), value: (o) => m.objects[o.object].title, class: "name"},
      {title: tr("Held on the path"), value: (o) => o.held_ns, cell: (o) => duration(o.held_ns), number: true},
      {title: tr("Share"), value: (o) => o.held_ns, cell: (o) => percent(o.held_ns, whole), number: true},
      {
        title: tr("Waited on the path"),
        hint: tr("for what no recorded thread ended: time, input, output, another process"),
        value: (o) => o.unknown_ns,
        cell: (o) => (o.unknown_ns ? duration(o.unknown_ns) : "\u2013"),
        number: true,
      },
      {
        title: tr("Without it, shorter by") + note,
        hint: tr("had its sections taken no time, and everything else kept its order"),
        value: (o) => gain(o, "gain_ns") ?? -1,
        cell: (o) => duration(gain(o, "gain_ns")),
        number: true,
      },
      {
        title: tr("At half, shorter by") + note,
        value: (o) => gain(o, "gain_half_ns") ?? -1,
        cell: (o) => duration(gain(o, "gain_half_ns")),
        number: true,
      },
      {
        title: tr("Wakes (time)"),
        value: (o) => o.wake_ns,
        cell: (o) => (o.wakes ? `${count(o.wakes)} (${duration(o.wake_ns)})` : "\u2013"),
        number: true,
      },
    ],
    path.objects.filter((o) => o.held_ns + o.wakes + o.unknown_ns > 0),
    {
      most: 8,
      empty: tr("No lock was held on it."),
      onrow: (o) => app.show("timeline", {path: true, object: o.object}),
    },
  );
}

function pathPanel(app, path) {
  const m = app.model,
    whole = pathLength(path),
    title = path.job
      ? tr("Critical path of the MPI job")
      : m.processes.length > 1
        ? tr("Critical path of process %1", [m.processes[path.process].pid, m.program(path.process)].filter(Boolean).join(" "))
        : tr("Critical path");
  if (path.steps === 0 || whole === 0) return null;
  const threads = pathThreads(path);
  return panel(
    title,
    h(
      "p",
      {class: "lead"},
      tr("What made it last %1; it goes %2 from one thread to another. ", duration(whole), plural(path.hops, "time")),
      button(tr("Show it in the timeline"), () => app.show("timeline", {path: true})),
    ),
    path.job ? null : pathBar(path, whole),
    threads.length > 1 ? pathChart(app, path, threads) : null,
    path.job ? jobPathTable(m, path) : [pathDoubts(m, path), pathObjectTable(app, path, whole)],
    h("details", {class: "sites"}, h("summary", null, tr("Its threads (%1)", count(threads.length))), pathThreadTable(app, path, threads, whole)),
  );
}
