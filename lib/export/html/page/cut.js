// SPDX-License-Identifier: MIT
// A part of the recording: sums and tables made again from the spans, which are cut at both ends.

const NO_WAITS = () => ({count: 0, total_ns: 0, max_ns: 0, unfinished: 0, unfinished_ns: 0});

// How long recording was not stopped between two moments.
function recordedNs(stops, from, to) {
  return stops.reduce((ns, [begin, length]) => ns - Math.max(0, Math.min(to, begin + length) - Math.max(from, begin)), to - from);
}

// Calls each(row, index, ns, times) for the spans of a table between two moments. Of spans drawn as one, the idle part counts
// in proportion. `stops`: of a row, the times that do not count; NULL: all count.
function cutSpans(table, from, to, each, stops = null) {
  for (const row of table.rows) {
    const stopped = stops ? stops(row) : [];
    const first = Math.max(row.from, above(table.begin, from, row.from, row.to) - 1);
    for (let i = first; i < row.to && table.begin[i] < to; i++) {
      const whole = table.ns[i],
        since = Math.max(from, table.begin[i]),
        part = Math.min(to, table.begin[i] + whole) - since;
      if (part < 0 || (part === 0 && whole > 0)) continue;
      each(row, i, recordedNs(stopped, since, since + part) * (whole ? 1 - table.idle[i] / whole : 1), table.more[i] + 1);
    }
  }
}

function addWait(sum, ns, times, unfinished) {
  sum[unfinished ? "unfinished" : "count"] += times;
  sum[unfinished ? "unfinished_ns" : "total_ns"] += ns;
  if (!unfinished) sum.max_ns = Math.max(sum.max_ns, ns);
}

// An entry of a map, made when it is first asked for.
function entry(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

function cutThreads(m, from, to) {
  return m.threads.map((t) => ({
    ...t,
    life: Math.max(0, recordedNs(m.stops(t.process), Math.max(from, t.begin), Math.min(to, t.end))),
    blocked_ns: 0,
    waits: {},
    counters: [],
    switches: {value: null, status: "not counted"},
    cpu_ns: null,
    ready_ns: null,
    sched: t.sched && {running_ns: 0, preempted_ns: 0, blocked_ns: 0, unknown_ns: 0, voluntary: null, involuntary: null, lost: 0},
  }));
}

function cutObjects(m) {
  return m.objects.map((o) => ({
    ...o,
    waits: NO_WAITS(),
    waitedNs: 0,
    acquisitions: null,
    contended: 0,
    failed: 0,
    counts_exact: true,
    holds: 0,
    hold_ns: 0,
    partial_holds: 0,
    partial_hold_ns: 0,
    waited: null,
    held: null,
    byThread: new Map(),
    bySite: new Map(),
  }));
}

function userOf(o, thread) {
  return entry(o.byThread, thread, () => ({
    thread,
    acquisitions: null,
    contended: null,
    waits: NO_WAITS(),
    holds: 0,
    hold_ns: 0,
    hold_max_ns: 0,
    partial_holds: 0,
    partial_hold_ns: 0,
    blocked: 0,
    blocked_ns: 0,
  }));
}

function siteOf(o, site) {
  return entry(o.bySite, site, () => ({site, stack: 0, acquisitions: 0, waits: NO_WAITS(), blocked: 0, blocked_ns: 0}));
}

function cutWaits(m, cut, from, to) {
  const w = m.tables.waits,
    pairs = new Map(),
    blocked = new Map();
  cutSpans(w, from, to, (row, i, ns, times) => {
    const t = cut.threads[row.a],
      o = w.what[i] ? cut.objects[w.what[i] - 1] : null,
      unfinished = (w.flags[i] & UNFINISHED) !== 0,
      other = w.holder[i] || w.waker[i] || (o && o.peer ? (m.byTid.get(`${o.process}.${o.peer}`)?.index ?? -1) + 1 : 0);
    const kind = WAIT_KINDS[w.kind[i]];
    t.waits[kind] = t.waits[kind] || NO_WAITS();
    addWait(t.waits[kind], ns, times, unfinished);
    if (row.b > 0) return; // within another wait
    t.blocked_ns += ns;
    const pair = entry(pairs, `${row.a}.${other}`, () => [row.a, other, 0, 0]);
    pair[2] += times;
    pair[3] += ns;
    if (!o) return;
    addWait(o.waits, ns, times, unfinished);
    addWait(userOf(o, row.a).waits, ns, times, unfinished);
    addWait(siteOf(o, w.site[i]).waits, ns, times, unfinished);
    for (const by of w.holder[i] ? [userOf(o, w.holder[i] - 1), siteOf(o, w.holderSite[i])] : []) {
      by.blocked += times;
      by.blocked_ns += ns;
    }
    const key = [row.a, w.stack[i], w.stack[i] ? 0 : w.site[i], o.index],
      sum = entry(blocked, key.join("."), () => [...key, 0, 0]);
    sum[4] += times;
    sum[5] += ns;
  }, (row) => m.stops(m.threads[row.a].process));
  cut.pairs = [...pairs.values()];
  cut.blocked = [...blocked.values()];
}

// Samples are no sum of holds, as in the tables of the whole.
function cutHolds(m, cut, from, to) {
  cutSpans(m.tables.holds, from, to, (row, i, ns, times) => {
    const flags = m.tables.holds.flags[i],
      partial = (flags & (AT_LEAST | UNFINISHED)) !== 0,
      o = cut.objects[row.a];
    if (flags & SAMPLED) return;
    const user = userOf(o, row.b);
    for (const of of [o, user]) {
      of[partial ? "partial_holds" : "holds"] += times;
      of[partial ? "partial_hold_ns" : "hold_ns"] += ns;
    }
    if (!partial) user.hold_max_ns = Math.max(user.hold_max_ns, ns);
  }, (row) => m.stops(m.threads[row.b].process));
}

function cutRuns(m, cut, from, to) {
  cutSpans(m.tables.runs, from, to, (row, i, ns) => {
    const {sched} = cut.threads[row.a];
    if (sched) sched[["unknown_ns", "running_ns", "preempted_ns", "blocked_ns"][m.tables.runs.what[i]]] += ns;
  }, (row) => m.stops(m.threads[row.a].process));
}

// Sums of regions, and the calling-context tree: own times by thread and nested names.
function cutRegions(m, cut, from, to) {
  const r = m.tables.regions,
    nodes = [[0, "", 0, 0, 0]],
    byPath = new Map(),
    nodeOf = new Map();
  cut.regions = m.regions.map((region) => ({...region, count: 0, wall_ns: 0, min_ns: null, max_ns: 0, unfinished: 0, counters: []}));
  const node = (parent, name) =>
    entry(byPath, `${parent}\n${name}`, () => nodes.push([parent, name, 0, 0, 0]) - 1);
  // The region of the next lower depth around a span.
  const around = (row, i) => {
    const outer = r.rows.find((x) => x.a === row.a && x.b === row.b - 1),
      k = outer ? above(r.begin, r.begin[i], outer.from, outer.to) - 1 : -1;
    return outer && k >= outer.from ? nodeOf.get(k) : undefined;
  };
  const byDepth = {...r, rows: [...r.rows].sort((x, y) => x.b - y.b)};
  cutSpans(byDepth, from, to, (row, i, ns, times) => {
    const region = r.what[i] ? cut.regions[r.what[i] - 1] : null,
      parent = around(row, i) ?? node(0, cut.threads[row.a].label),
      at = node(parent, region ? region.name : tr("several regions"));
    nodeOf.set(i, at);
    nodes[at][3] += times;
    nodes[at][4] += ns;
    if (row.b > 0) nodes[parent][4] -= ns;
    if (!region) return;
    const unfinished = r.flags[i] & UNFINISHED;
    region[unfinished ? "unfinished" : "count"] += times;
    region.wall_ns += ns;
    region.max_ns = Math.max(region.max_ns, ns);
    region.min_ns = Math.min(region.min_ns ?? Infinity, ns);
  });
  for (const n of nodes) n[4] = Math.max(0, n[4]);
  cut.tree = nodes;
}

function cutModel(whole, from, to) {
  const cut = Object.create(whole);
  cut.isCut = true;
  cut.shown = {from: Math.max(whole.shown.from, from), to: Math.min(whole.shown.to, to)};
  cut.length = to - from;
  cut.findings = [];
  cut.threads = cutThreads(whole, from, to);
  cut.objects = cutObjects(whole);
  cut.totals = {...whole.totals, lifetime_ns: cut.threads.reduce((n, t) => n + t.life, 0)};
  cutWaits(whole, cut, from, to);
  cutHolds(whole, cut, from, to);
  cutRuns(whole, cut, from, to);
  cutRegions(whole, cut, from, to);
  cut.paths = whole.paths.map((p) => cutPath(whole, p, from, to));
  for (const o of cut.objects) {
    o.waitedNs = waited(o.waits);
    o.threads = [...o.byThread.values()].sort((a, b) => waited(b.waits) - waited(a.waits));
    o.sites = [...o.bySite.values()].sort((a, b) => waited(b.waits) + b.blocked_ns - waited(a.waits) - a.blocked_ns);
  }
  return cut;
}
