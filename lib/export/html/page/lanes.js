// SPDX-License-Identifier: MIT
// Lanes of the timeline: their order and positions, and hit testing.

const GUTTER = 196,
  REGIONS_SHOWN = 10,
  LOCKS_SHOWN = 150,
  CALM_SHOWN = 40;
const ROOMY = {pad: 5, state: 18, sample: 6, call: 16, hold: 4, region: 15, holder: 17, queue: 16, counter: 40, head: 26};
const DENSE = {pad: 2, state: 9, sample: 3, call: 9, hold: 2, region: 0, holder: 9, queue: 9, counter: 26, head: 24};

// A strip is a part of a lane: {kind, y (in the lane), height, rows}.
function threadLane(t, size) {
  const strips = [{kind: "state", y: size.pad, height: size.state, rows: t.waitRows.filter((r) => r.b === 0)}];
  let y = size.pad + size.state;
  if (t.samples) {
    strips.push({kind: "sample", y: y + 1, height: size.sample, rows: []});
    y += size.sample + 1;
  }
  if (t.callRows && t.callRows.length > 0) {
    strips.push({kind: "call", y: y + 1, height: size.call - 1, rows: t.callRows});
    y += size.call;
  }
  if (t.holdRows.length > 0) {
    strips.push({kind: "held", y: y + 1, height: size.hold, rows: t.holdRows});
    y += size.hold + 1;
  }
  if (size.region > 0) {
    for (const row of t.regionRows.slice(0, REGIONS_SHOWN)) {
      strips.push({kind: "region", y: y + 1, height: size.region - 1, rows: [row]});
      y += size.region;
    }
  }
  return {
    kind: "thread",
    thread: t,
    strips,
    height: y + size.pad,
    title: t.label,
    note: size === DENSE ? "" : t.rank && t.index === t.rank.thread - 1 ? rankNote(t.rank) : threadNote(t),
  };
}

// Orders of threads: key, title, comparison.
const LANE_ORDERS = [
  ["", tr("by start"), (a, b) => a.begin - b.begin || a.tid - b.tid],
  ["blocked", tr("by time blocked"), (a, b) => b.blocked_ns - a.blocked_ns],
  ["active", tr("by time active"), (a, b) => b.life - b.blocked_ns - (a.life - a.blocked_ns)],
  ["name", tr("by name"), (a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0)],
];

// Of a thread that waits for events longer than this part of its life, nothing is to be seen.
const IDLE_SHARE = 0.99;

function isIdle(t) {
  const calm = Object.entries(t.waits).reduce((n, [kind, w]) => n + (CALM.has(kind) ? waited(w) : 0), 0);
  return t.life > 0 && calm > IDLE_SHARE * t.life;
}

function laneKey(lane) {
  return lane.thread ? `t${lane.thread.index}` : `o${lane.object.index}`;
}

function threadNote(t) {
  const life = t.life;
  if (t.sched && t.sched.running_ns + t.sched.preempted_ns > 0)
    return tr("%1 running, %2 waiting", percent(t.sched.running_ns, life), percent(t.blocked_ns, life));
  return tr("%1 waiting", percent(t.blocked_ns, life));
}

function lockLane(o, size) {
  const strips = [];
  let y = size.pad;
  if (o.holdRows.length > 0) {
    strips.push({kind: "holder", y, height: size.holder, rows: o.holdRows});
    y += size.holder + 1;
  }
  if (waitCount(o.waits) > 0) {
    strips.push({kind: "queue", y, height: size.queue, rows: []});
    y += size.queue;
  }
  return {
    kind: "object",
    object: o,
    strips,
    height: y + size.pad,
    title: o.title,
    note: size === DENSE ? "" : tr("%1 waited", duration(o.waitedNs)),
  };
}

function counterLane(c, i, size) {
  return {
    kind: "counter",
    counter: c,
    number: i,
    strips: [{kind: "counter", y: 4, height: size.counter - 8, rows: []}],
    height: size.counter,
    title: c.name,
    note: tr("all threads"),
  };
}

function section(title, key, made, folded, all = made.length) {
  if (made.length === 0) return [];
  const open = !folded.has(key),
    note = all > made.length ? tr("%1 of %2, those waited for most", count(made.length), count(all)) : count(all);
  return [{kind: "head", key, title, open, strips: [], height: ROOMY.head, note}, ...(open ? made : [])];
}

// options: {dense, folded: Set, wanted(lane): bool, sort, busy, pinned: Set of lane keys}
function layOut(model, options) {
  const size = options.dense ? DENSE : ROOMY,
    wanted = options.wanted || (() => true);
  const [, , order] = LANE_ORDERS.find(([key]) => key === (options.sort || "")),
    pinned = options.pinned || new Set(),
    free = (lane) => !pinned.has(laneKey(lane));
  const threads = model.threads
    .filter((t) => !options.busy || !isIdle(t))
    .sort((a, b) => a.process - b.process || order(a, b));
  const objects = model.objects.filter((o) => o.type !== "thread" && !o.call && (o.holdRows.length > 0 || o.waitedNs > 0));
  const objectsOf = (title, key, calm, most) => {
    const all = objects.filter((o) => o.calm === calm && wanted({object: o}));
    const made = all
      .slice(0, most)
      .map((o) => lockLane(o, size))
      .filter(free);
    return section(title, key, made, options.folded, all.length);
  };
  const lanesOf = (process) =>
    threads
      .filter((t) => t.process === process)
      .map((t) => threadLane(t, size))
      .filter((lane) => wanted(lane) && free(lane));
  const several = model.processes.length > 1,
    threadsOf = (p, i) =>
      !model.mpi?.ofProcess.has(i) &&
      section(
        several ? tr("Threads of %1", `${tidy(baseName(p.command.split(" ")[0]), 60)} ${p.pid}`) : tr("Threads"),
        `threads ${i}`,
        lanesOf(i),
        options.folded,
      );
  const pinnedLanes = [...pinned]
    .map((key) => {
      const number = Number(key.slice(1));
      if (key[0] === "t" && model.threads[number]) return threadLane(model.threads[number], size);
      return key[0] === "o" && model.objects[number] ? lockLane(model.objects[number], size) : null;
    })
    .filter(Boolean);
  const lanes = [
    ...section(tr("Pinned"), "pinned", pinnedLanes, options.folded),
    ...rankLanes(model, options, lanesOf),
    ...model.processes.flatMap(threadsOf).filter(Boolean),
    ...objectsOf(tr("Locks"), "locks", false, LOCKS_SHOWN),
    ...objectsOf(tr("Signals, posts and barriers"), "calm", true, CALM_SHOWN),
    ...section(
      tr("Counters"),
      "counters",
      model.readings.some((r) => r.ns.length > 0) ? model.counters.map((c, i) => counterLane(c, i, size)) : [],
      options.folded,
    ),
  ];
  let y = 0;
  for (const lane of lanes) {
    lane.y = y;
    y += lane.height;
  }
  return {
    lanes,
    height: y,
    ofThread: new Map(lanes.filter((l) => l.thread).map((l) => [l.thread.index, l])),
    ofObject: new Map(lanes.filter((l) => l.object).map((l) => [l.object.index, l])),
  };
}

function laneAt(layout, y) {
  return layout.lanes.find((l) => y >= l.y && y < l.y + l.height) || null;
}

// The span of a row nearest to a moment, within `near`; of several the longest. -1: none.
function spanNear(row, ns, near) {
  const {begin, ns: length} = row.table;
  let best = -1;
  for (
    let i = Math.max(row.from, above(begin, ns - near, row.from, row.to) - 1);
    i < row.to && begin[i] <= ns + near;
    i++
  )
    if (begin[i] + length[i] >= ns - near && (best < 0 || length[i] > length[best])) best = i;
  return best;
}

// What is at a point: {lane, strip, row, index}; index -1 where there is no span.
function hit(layout, y, ns, near) {
  const lane = laneAt(layout, y);
  if (!lane) return null;
  const inside = y - lane.y;
  const strip = lane.strips.find((s) => inside >= s.y - 1 && inside <= s.y + s.height + 1) || null;
  let best = {lane, strip, row: null, index: -1};
  for (const row of strip ? strip.rows : []) {
    const index = spanNear(row, ns, near);
    if (index >= 0 && (best.index < 0 || row.table.ns[index] < best.row.table.ns[best.index]))
      best = {lane, strip, row, index};
  }
  return best;
}
