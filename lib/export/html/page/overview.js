// SPDX-License-Identifier: MIT
// Overview: summary of the recording, threads, contention over time, locks, waiting pairs.

const PAIRS_SHOWN = 24;

function card(title, value, note, warn) {
  return h(
    "div",
    {class: warn ? "card warn" : "card"},
    h("div", {class: "title"}, title),
    h("div", {class: typeof value === "string" ? "value" : "value word"}, value),
    h("div", {class: "note"}, note),
  );
}

// What was not recorded, or not read, may hold what was not found.
function isWhole(m) {
  const d = m.deadlocks;
  return m.totals.lost === 0 && m.damages.length === 0 && !d.problem && !d.without && !d.incomplete && !d.cut;
}

function deadlockCard(m) {
  const items = m.deadlocks.items || [],
    certain = items.filter((item) => item.certainty === "certain").length;
  if (certain > 0) return card(tr("Deadlocks"), count(certain), tr("see Deadlock"), true);
  if (m.deadlocks.problem) return card(tr("Deadlocks"), "?", tr("cannot be read"));
  const stalled = items.length > 0 ? tr("%1 that an external event could end", plural(items.length, "stall")) : "";
  return card(tr("Deadlocks"), isWhole(m) ? tr("none") : tr("none found"), stalled || (isWhole(m) ? "" : tr("in what was recorded")));
}

function lostCard(m) {
  const lost = m.totals.lost > 0 ? tr("%1 did not fit", plural(m.totals.lost, "event")) : "";
  if (m.damages.length > 0)
    return card(tr("Lost"), tr("a part"), tr("%1 damaged", plural(m.damages.length, "stream")) + (lost && `, ${lost}`), true);
  return m.totals.lost > 0 ? card(tr("Lost"), count(m.totals.lost), lost, true) : card(tr("Lost"), tr("nothing"), tr("every event was kept"));
}

function cards(m) {
  const blocked = m.threads.reduce((n, t) => n + t.blocked_ns, 0);
  const contended = m.objects.filter((o) => !o.calm),
    locks = contended.reduce((n, o) => n + o.waitedNs, 0);
  const waits = contended.reduce((n, o) => n + waitCount(o.waits), 0),
    worst = contended[0];
  return h(
    "div",
    {class: "cards"},
    card(
      m.isCut ? tr("Selected") : tr("Recorded"),
      duration(m.length),
      `${m.isCut ? "" : `${plural(m.totals.events, "event")}, `}${plural(m.threads.length, "thread")}${m.processes.length > 1 ? `, ${plural(m.processes.length, "process", "processes")}` : ""}`,
    ),
    card(
      tr("Waiting for locks"),
      duration(locks),
      waits ? tr("%1, %2 of the threads' lives", plural(waits, "wait"), percent(locks, m.totals.lifetime_ns)) : tr("no thread had to wait"),
    ),
    card(
      tr("Waited for most"),
      worst && worst.waitedNs ? objectLink(m, worst) : "\u2013",
      worst && worst.waitedNs
        ? tr("%1, longest %2", duration(worst.waitedNs), duration(worst.waits.max_ns || worst.waits.unfinished_ns))
        : tr("no lock was contended"),
    ),
    card(
      tr("Blocked in all"),
      percent(blocked, m.totals.lifetime_ns),
      tr("%1, with waits for signals, ends and posts", duration(blocked)),
    ),
    deadlockCard(m),
    lostCard(m),
  );
}

// ---------------------------------------------------------------------------------------------- contention

function contentionPanel(app) {
  const m = app.model,
    layers = contention(m, 600),
    most = Math.max(1, Math.ceil(mostBlocked(layers)));
  if (layers.length === 0)
    return panel(
      tr("Blocked threads over time"),
      h("p", {class: "empty"}, m.window ? tr("No recorded wait lies in the time window.") : tr("No thread waited for anything that was recorded.")),
    );
  const place = h("div", {
    class: "chart",
    role: "img",
    "aria-label": tr("Blocked threads over time: at most %1 at once. The tables below have the numbers.", most),
  });
  const chart = canvasIn(place, (c, width, height) => {
    const t = theme(),
      left = 30,
      bottom = 20;
    c.fillStyle = t.panel;
    c.fillRect(0, 0, width, height);
    c.font = `11px ${t.font}`;
    c.textBaseline = "middle";
    const step = Math.max(1, Math.ceil(most / 4));
    for (let n = 0; n <= most; n += step) {
      const y = 6 + (height - bottom - 6) * (1 - n / most);
      c.fillStyle = t.grid;
      c.fillRect(left, Math.round(y), width - left, 1);
      c.fillStyle = t.dim;
      c.textAlign = "right";
      c.fillText(n, left - 7, y);
    }
    drawLayers(c, layers, left, 6, width - left, height - bottom - 6, most);
    c.textAlign = "left";
    axisMarks(m.shown.from, m.shown.to > m.shown.from ? m.shown.to : m.shown.from + 1, width - left, (x, label) => {
      c.fillStyle = t.grid;
      c.fillRect(left + Math.round(x), 6, 1, height - bottom - 2);
      c.fillStyle = t.dim;
      if (x + 40 < width - left) c.fillText(label, left + x + 4, height - bottom / 2 + 2);
    });
  });
  chart.canvas.addEventListener("click", (e) => {
    const length = m.shown.to - m.shown.from,
      at = m.shown.from + ((e.offsetX - 30) / (chart.canvas.clientWidth - 30)) * length;
    app.show("timeline", {from: at - length / 40, to: at + length / 40});
  });
  app.onTheme(chart.ask);
  const key = h(
    "div",
    {class: "key"},
    layers.map((l) => h("span", {class: l.calm ? "calm" : ""}, h("i", {style: {background: l.color}}), l.title)),
  );
  return panel(
    tr("Blocked threads over time"),
    place,
    key,
    h(
      "p",
      {class: "note"},
      tr("Full color: waits for locks. Pale: waits for signals, posts and ends of threads. A click opens that moment in the timeline."),
    ),
  );
}

function panel(title, ...content) {
  return h("section", {class: "panel"}, h("h2", null, title), ...content);
}

// ------------------------------------------------------------------------------------------------- threads

// The life of a thread as a bar: waits by kind, then, if its context switches were recorded, its scheduler states.
function lifeBar(m, t) {
  const life = Math.max(1, t.life),
    bar = h("span", {class: "bar"});
  const kinds = Object.entries(t.waits)
    .map(([kind, w]) => [kind, waited(w)])
    .sort((a, b) => CALM.has(a[0]) - CALM.has(b[0]) || b[1] - a[1]);
  const part = (name, ns, title) =>
    ns > 0 &&
    bar.append(h("i", {class: name, style: {width: `${(100 * ns) / life}%`}, title: `${title}: ${duration(ns)}`}));
  for (const [kind, ns] of kinds) part(CALM.has(kind) ? "calm" : "lock", ns, kind);
  if (t.sched) {
    part("asleep", t.sched.blocked_ns - t.blocked_ns, tr("blocked otherwise"));
    part("preempted", t.sched.preempted_ns, tr("preempted"));
    part("run", t.sched.running_ns, tr("running"));
  }
  return bar;
}

function waitWords(t) {
  return Object.entries(t.waits)
    .filter(([, w]) => waitCount(w) > 0)
    .sort((a, b) => waited(b[1]) - waited(a[1]))
    .map(([kind, w]) => `${kind} ${duration(waited(w))} (${count(waitCount(w))})`)
    .join(", ");
}

const RUN_COLUMN = {
  title: tr("Running"),
  value: (t) => onCpu(t) ?? -1,
  cell: (t) => (onCpu(t) === null ? "\u2013" : duration(onCpu(t))),
  number: true,
};

function schedColumns() {
  const of = (t, key) => (t.sched ? t.sched[key] : -1),
    least = (t) => (t.sched && t.sched.lost ? "\u2265\u202f" : "");
  return [
    RUN_COLUMN,
    {title: tr("Preempted"), value: (t) => of(t, "preempted_ns"), cell: (t) => duration(t.sched?.preempted_ns), number: true},
    {
      title: tr("Switches: blocked / preempted"),
      hint: tr("voluntary and involuntary context switches"),
      value: (t) => of(t, "voluntary") + of(t, "involuntary"),
      cell: (t) => (t.sched ? `${least(t)}${count(t.sched.voluntary)} / ${count(t.sched.involuntary)}` : "\u2013"),
      number: true,
    },
  ];
}

// By the kernel's sums, without the records of switches.
const READY_COLUMN = {
  title: tr("Preempted"),
  hint: tr("ready to run without a CPU"),
  value: (t) => t.ready_ns ?? -1,
  cell: (t) => (t.ready_ns ? duration(t.ready_ns) : "\u2013"),
  number: true,
};

const SWITCHES = {
  title: tr("Switches"),
  value: (t) => t.switches.value ?? -1,
  cell: (t) => counted(t.switches),
  number: true,
  hint: tr("context switches"),
};

function threadPanel(app) {
  const m = app.model,
    told = m.threads.some((t) => t.sched),
    columns = [
      {title: tr("Thread"), value: (t) => t.label, class: "name"},
      {title: tr("Life"), value: (t) => t.life, cell: (t) => duration(t.life), number: true},
      {title: tr("Blocked"), value: (t) => t.blocked_ns, cell: (t) => duration(t.blocked_ns), number: true},
      {
        title: tr("Share"),
        value: (t) => t.blocked_ns / Math.max(1, t.life),
        cell: (t) => percent(t.blocked_ns, t.life),
        number: true,
      },
      {
        title: told ? tr("Waits for locks, for events; preempted; runs") : tr("Waits for locks, for events"),
        value: (t) => t.blocked_ns / Math.max(1, t.life),
        cell: (t) => lifeBar(m, t),
        class: "wide",
      },
      ...(told ? schedColumns() : m.isCut ? [] : [RUN_COLUMN, ...(m.threads.some((t) => t.ready_ns) ? [READY_COLUMN] : []), SWITCHES]),
      {title: tr("Waited for (times)"), value: waitWords, class: "words"},
      ...counterColumns(m, m.threads),
    ];
  return panel(
    tr("Threads"),
    table(columns, m.isCut ? m.threads.filter((t) => t.life > 0) : m.threads, {
      most: 20,
      onrow: (t) => app.show("timeline", {thread: t.index}),
      empty: tr("No thread was recorded."),
    }),
  );
}

// --------------------------------------------------------------------------------------------------- locks

// Holds with a certain begin and end, and those of which only a part is recorded, which lasted longer.
const heldCount = (x) => x.holds + x.partial_holds;

function heldText(x) {
  if (!heldCount(x)) return "\u2013";
  return (x.partial_holds ? "\u2265\u202f" : "") + duration(x.hold_ns + x.partial_hold_ns);
}

// Waits, those included that ended without the lock, and that were only counted, as in the report.
function timesWaited(o) {
  const counted = o.acquisitions > 0 && o.contended !== null ? o.contended + o.failed : 0;
  return Math.max(counted, o.waits.count) + o.waits.unfinished;
}

// The time is a lower bound with waits that did not end, or that were only counted for a time.
function waitedText(m, o) {
  const known = o.waits.count + o.waits.unfinished,
    counted = m.processes[o.process].counted_ns > 0 && (o.contended === null || timesWaited(o) > known);
  return (known && (o.waits.unfinished || counted) ? "\u2265\u202f" : "") + duration(o.waitedNs);
}

// As upmu report without --group-locks.
const FOLDED_FROM = 10,
  FEW_FOLDED_FROM = 2, // calls, and locks in one static variable
  PATHS_SHOWN = 10;

// Locks of one call site or one static variable, or calls of processes of one program, as one: the first with the sums of all.
function foldedLock(all) {
  const [first] = all,
    sum = (f) => all.reduce((n, o) => n + f(o), 0),
    most = (f) => all.reduce((n, o) => Math.max(n, f(o)), 0),
    keys = ["waitedNs", "acquisitions", "failed", "holds", "hold_ns", "partial_holds", "partial_hold_ns"];
  return {
    ...first,
    ...Object.fromEntries(keys.map((key) => [key, sum((o) => o[key])])),
    title: tidy(`${first.call ? first.title : `${first.type} ${first.group}`} (${all.length})`, 120),
    waits: Object.fromEntries(
      Object.keys(first.waits).map((key) => [key, (key === "max_ns" ? most : sum)((o) => o.waits[key])]),
    ),
    contended: all.some((o) => o.contended === null) ? null : sum((o) => o.contended),
    counts_exact: all.every((o) => o.counts_exact),
    holds_complete: all.every((o) => o.holds_complete),
    first,
  };
}

function foldedLocks(objects) {
  const groups = new Map();
  for (const o of objects) {
    const lock = o.variable ? `${o.process}.${o.variable}` : o.folds ? `${o.process}.${o.type}.${o.group}` : o.index;
    const key = o.call ? `call.${o.title}` : lock;
    if (groups.has(key)) groups.get(key).push(o);
    else groups.set(key, [o]);
  }
  const least = (all) => (all[0].call || all[0].variable ? FEW_FOLDED_FROM : FOLDED_FROM),
    rows = [...groups.values()].flatMap((all) => (all.length < least(all) ? all : [foldedLock(all)]));
  return rows.some((o) => o.first) ? rows.sort((a, b) => b.waitedNs - a.waitedNs) : rows;
}

function lockPanel(app, title, each, empty) {
  const m = app.model,
    objects = foldedLocks(each),
    columns = [
      {
        title: tr("Object"),
        value: (o) => o.title,
        cell: (o) => [h("i", {class: "dot", style: {background: o.color}}), o.title],
        class: "name",
      },
      {title: tr("Waited in all"), value: (o) => o.waitedNs, cell: (o) => waitedText(m, o), number: true},
      {
        title: tr("Waits"),
        value: timesWaited,
        cell: (o) => count(timesWaited(o)) + (o.waits.unfinished ? tr(" (%1 never ended)", o.waits.unfinished) : ""),
        number: true,
      },
      {
        title: tr("Mean"),
        value: (o) => o.waits.total_ns / Math.max(1, o.waits.count),
        cell: (o) => (o.waits.count ? duration(o.waits.total_ns / o.waits.count) : "\u2013"),
        number: true,
      },
      {
        title: tr("Longest"),
        value: (o) => o.waits.max_ns,
        cell: (o) => (o.waits.count ? duration(o.waits.max_ns) : "\u2013"),
        number: true,
      },
      {
        title: tr("Acquired"),
        value: (o) => o.acquisitions,
        cell: (o) =>
          o.acquisitions === 0 && o.calm ? "\u2013" : (o.counts_exact ? "" : "\u2265\u202f") + count(o.acquisitions),
        number: true,
      },
      {
        title: tr("Held"),
        value: (o) => o.hold_ns + o.partial_hold_ns,
        cell: (o) => heldText(o) + (o.holds_complete || !heldCount(o) ? "" : tr(" in %1 recorded", count(heldCount(o)))),
        number: true,
      },
      {title: tr("Created at"), value: (o) => m.siteText(o.init), cell: (o) => sitePlace(m, o.init), class: "site"},
    ].filter((c) => {
      // A column in which no object has anything is left out.
      if (c.title === tr("Created at")) return objects.some((o) => c.value(o));
      if (c.title === tr("Held")) return objects.some((o) => !o.calm || heldCount(o) > 0);
      return c.title !== tr("Acquired") || objects.some((o) => !o.calm || o.acquisitions > 0);
    });
  return panel(
    title,
    table(columns, objects, {most: 12, empty, onrow: (o) => app.show("timeline", {object: o.index})}),
    objects
      .filter((o) => o.waitedNs > 0 && o.type !== "thread")
      .slice(0, 3)
      .map((o) => lockSites(m, o.first || o)),
  );
}

// What the counters counted while threads waited for a lock, and while they held it.
function sectionCounts(m, o) {
  const row = (title, s) => s && {title, ...s};
  const rows = [row(tr("waiting for it"), o.waited), row(tr("holding it"), o.held)].filter(Boolean);
  if (rows.length === 0) return null;
  return table(
    [
      {title: tr("Counted while"), value: (s) => s.title, class: "name"},
      {title: tr("Times"), value: (s) => s.times, cell: (s) => count(s.times), number: true},
      {title: tr("Time"), value: (s) => s.ns, cell: (s) => duration(s.ns), number: true},
      ...counterColumns(m, rows),
    ],
    rows,
  );
}

// Call sites and threads that waited for a lock and acquired it.
function lockSites(m, o) {
  const sites = o.sites.filter((s) => s.site && (waited(s.waits) || s.blocked_ns)).slice(0, 6);
  const threads = o.threads.filter((u) => waited(u.waits) || u.blocked_ns || heldCount(u)).slice(0, 8);
  if (sites.length + threads.length === 0) return null;
  return h(
    "details",
    {class: "sites"},
    h("summary", null, h("i", {class: "dot", style: {background: o.color}}), tr("%1: call sites and threads", o.title)),
    sites.length > 0 &&
      table(
        [
          {title: tr("Call site"), value: (s) => m.siteText(s.site), cell: (s) => sitePlace(m, s.site), class: "site"},
          {
            title: tr("Waited here"),
            value: (s) => waited(s.waits),
            cell: (s) =>
              waited(s.waits) ? `${duration(waited(s.waits))} (${count(waitCount(s.waits))})` : "\u2013",
            number: true,
          },
          {
            title: tr("Acquired here, made others wait"),
            value: (s) => s.blocked_ns,
            cell: (s) => (s.blocked ? `${duration(s.blocked_ns)} (${count(s.blocked)})` : "\u2013"),
            number: true,
          },
        ],
        sites,
      ),
    threads.length > 0 &&
      table(
        [
          {title: tr("Thread"), value: (u) => m.threads[u.thread].label, class: "name"},
          {title: tr("Acquired"), value: (u) => u.acquisitions, cell: (u) => count(u.acquisitions), number: true},
          {
            title: tr("Waited"),
            value: (u) => waited(u.waits),
            cell: (u) =>
              waited(u.waits) ? `${duration(waited(u.waits))} (${count(waitCount(u.waits))})` : "\u2013",
            number: true,
          },
          {
            title: tr("Held"),
            value: (u) => u.hold_ns + u.partial_hold_ns,
            cell: (u) => heldText(u) + (heldCount(u) ? ` (${count(heldCount(u))})` : ""),
            number: true,
          },
          {
            title: tr("Made others wait"),
            value: (u) => u.blocked_ns,
            cell: (u) => (u.blocked ? `${duration(u.blocked_ns)} (${count(u.blocked)})` : "\u2013"),
            number: true,
          },
        ],
        threads,
      ),
    sectionCounts(m, o),
  );
}

// ------------------------------------------------------------------------------------------ waits between threads

function pairsPanel(app) {
  const m = app.model,
    pairs = m.pairs.filter(([, , , ns]) => ns > 0),
    name = (other) => (other ? m.threads[other - 1].label : tr("not known"));
  if (pairs.length === 0) return null;
  const total = (i) => {
    const sum = new Map();
    for (const p of pairs) sum.set(p[i], (sum.get(p[i]) || 0) + p[3]);
    return [...sum].sort((a, b) => b[1] - a[1]).map(([t]) => t);
  };
  const waiters = total(0),
    others = total(1),
    by = new Map(pairs.map((p) => [`${p[0]}.${p[1]}`, p])),
    worst = Math.max(...pairs.map((p) => p[3]));
  const cell = (w, other) => {
    const p = by.get(`${w}.${other}`);
    if (!p) return h("td", {class: w === other - 1 ? "self" : ""});
    return h(
      "td",
      {
        class: "heat",
        title: tr("%1 waited %2 (%3) for %4", m.threads[w].label, duration(p[3]), p[2], name(other)),
        style: {"--heat": (0.12 + 0.88 * Math.sqrt(p[3] / worst)).toFixed(3)},
      },
      h("b", null, duration(p[3])),
      h("small", null, `${count(p[2])}\u00d7`),
    );
  };
  const columns = others.slice(0, PAIRS_SHOWN),
    head = columns.map((t) => h("th", {scope: "col"}, h("span", null, name(t))));
  const line = (w) =>
    h(
      "tr",
      null,
      h("th", {scope: "row"}, m.threads[w].label),
      columns.map((other) => cell(w, other)),
    );
  return panel(
    tr("Waits between threads"),
    h(
      "div",
      {class: "matrix", tabindex: "0", role: "group", "aria-label": tr("Waits between threads")},
      h(
        "table",
        null,
        h("thead", null, h("tr", null, h("th", {class: "corner"}, tr("waited \u2193 for \u2192")), head)),
        h("tbody", null, waiters.slice(0, PAIRS_SHOWN).map(line)),
      ),
    ),
    h(
      "p",
      {class: "note"},
      tr("By the thread that held the lock when the wait began, else by the one that ended the wait."),
      waiters.length > PAIRS_SHOWN || others.length > PAIRS_SHOWN
        ? tr(" The %1 of each that matter most.", PAIRS_SHOWN)
        : "",
    ),
  );
}

// ---------------------------------------------------------------------------------------------- conditions

function fact(name, value, warn) {
  return value === null ? null : h("div", {class: warn ? "warn" : null}, h("dt", null, name), h("dd", null, value));
}

function conditionsPanel(m) {
  const merged = Object.entries(m.merged).filter(([, ns]) => ns > 0);
  return panel(
    tr("Conditions of this recording"),
    m.processes.map((p) =>
      h(
        "dl",
        {class: "facts"},
        fact(tr("Command"), h("code", null, tidy(p.command, 300))),
        fact(tr("Process"), tr("%1 on %2", p.pid, tidy(p.host, 60))),
        fact(tr("Kernel"), tidy(p.kernel, 80)),
        fact(tr("Began"), localTime(p.start_ns)),
        fact(
          tr("Clock"),
          p.clock_hz
            ? `${(p.clock_hz / 1e6).toFixed(2)} MHz, ${p.clock_error_ns === null ? tr("its error is not known") : tr("within %1 of CLOCK_MONOTONIC_RAW", duration(p.clock_error_ns))}`
            : "\u2013",
        ),
        fact(tr("Records"), tr("%1, %2 lost", count(p.records), count(p.lost)), p.lost > 0),
        p.overwritten
          ? fact(tr("Overwritten"), tr("%1 older events, by later ones", count(p.overwritten)), true)
          : null,
        p.stopped_ns && p.stopped_ns >= p.run_ns / 1000
          ? fact(tr("Recording stopped"), tr("%1 in %2; no time here includes it", duration(p.stopped_ns), duration(p.run_ns)), true)
          : null,
        p.counted_ns && p.counted_ns >= p.run_ns / 1000
          ? fact(tr("Only counts recorded"), tr("%1 in %2; no time here includes it", duration(p.counted_ns), duration(p.run_ns)), true)
          : null,
        p.children_filtered
          ? fact(tr("Not recorded"), tr("%1 forked children, under a filter of system calls, or /proc cannot be read", count(p.children_filtered)), true)
          : null,
        p.children_failed
          ? fact(tr("Not recorded"), tr("%1 forked children, without files of their own", count(p.children_failed)), true)
          : null,
        p.children_unrecorded
          ? fact(tr("Not recorded"), tr("at least %1 forked children, without a call that begins it", count(p.children_unrecorded)), true)
          : null,
        fact(
          tr("End"),
          p.complete
            ? tr("in good order")
            : p.execed
              ? tr("it became another program (exec)")
              : p.snapshot
                ? tr("a snapshot: %1", p.snapshot)
                : tr("it was killed, or still running"),
          !p.complete && !p.execed && !p.snapshot,
        ),
      ),
    ),
    h(
      "dl",
      {class: "facts"},
      fact(
        tr("Own cost"),
        m.totals.own_cost_ns === null
          ? tr("not recorded")
          : tr(
              "about %1 for the events about locks and threads, %2 of the threads' lives",
              duration(m.totals.own_cost_ns),
              percent(m.totals.own_cost_ns, m.totals.lifetime_ns),
            ),
      ),
      fact(
        tr("Events"),
        [
          count(m.totals.events),
          m.totals.unknown ? tr("%1 of unknown kinds", count(m.totals.unknown)) : "",
          m.totals.unmatched ? tr("%1 begins or ends without the other", count(m.totals.unmatched)) : "",
          m.totals.unfinished ? tr("%1 that never ended", plural(m.totals.unfinished, "wait")) : "",
        ]
          .filter(Boolean)
          .join(", "),
        m.totals.unmatched > 0,
      ),
      m.leftOut ? fact(tr("Left out"), tr("%1 regions and waits nested deeper than 512", count(m.leftOut)), true) : null,
      merged.length
        ? fact(
            tr("Drawn together"),
            tr(
              "the timeline draws %1 as one where they are close; tables and sums have them all",
              merged.map(([what, ns]) => tr(`${what} shorter than %1`, duration(ns))).join(", "),
            ),
          )
        : null,
      m.damages.map((text) => fact(tr("Damaged"), tidy(text, 400), true)),
      fact(tr("Page"), tr("made by libupmu %1", m.version)),
    ),
  );
}

// Of many processes the paths of those that lasted longest, as in upmu report; those of MPI jobs first.
function longestPaths(m) {
  const length = (p) => p.end - p.begin + p.early;
  return [...m.paths].sort((a, b) => Boolean(b.job) - Boolean(a.job) || length(b) - length(a)).slice(0, PATHS_SHOWN);
}

function showOverview(app) {
  const m = app.model,
    locks = m.objects.filter((o) => !o.calm),
    events = m.objects.filter((o) => o.calm && o.waitedNs > 0);
  fill(byId("overview"), [
    findingsPanel(app),
    cards(m),
    contentionPanel(app),
    rankPanel(m),
    threadPanel(app),
    lockPanel(app, tr("Locks"), locks, tr("No lock was recorded.")),
    events.length ? lockPanel(app, tr("Condition variables, semaphores, barriers, joins"), events, "") : null,
    longestPaths(m).map((path) => pathPanel(app, path)),
    pairsPanel(app),
    conditionsPanel(m),
  ]);
}
