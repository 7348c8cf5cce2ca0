// SPDX-License-Identifier: MIT
// Ranks of MPI: their calls, messages as arrows, collective calls as bands, and what is known of a call.

const MESSAGES_MOST = 400, // of more in view, those close together are one arrow
  BUNDLE_PX = 14,
  BAND_PX = 2, // narrower bands of a communicator share a pixel
  MPI_SPECIAL = 4, // `peer` and `tag` are stored with this added: 3 any, 2 MPI_PROC_NULL, 1 none, 0 not known
  MPI_ANY = 3,
  MPI_PROC_NULL = 2;

// Colors by what a call does.
const CALL_GROUPS = [
  [/^MPI_(I?[bsr]?send(_init)?|Start(all)?|Psend\w*)$/i, "#4263eb", tr("sends")],
  [/^MPI_(Im?recv|M?recv|I?m?probe|Recv_init|Precv\w*)$/i, "#0c8599", tr("receives, probes")],
  [/^MPI_(Wait|Test)/i, "#74c0fc", tr("completes requests")],
  [/^MPI_Sendrecv/i, "#1971c2", tr("sends and receives")],
];
const COLLECTIVE_COLOR = "#9c36b5",
  MPI_OTHER_COLOR = "#868e96",
  MPI_WAIT_COLOR = "#e03131";

const MPI_WAITS = {
  "late-sender": tr("late sender: the message was sent after this call had begun"),
  "wrong-order": tr("late sender, in wrong order: a message that was sent earlier is received later"),
  "late-receiver": tr("late receiver: the receive was posted after this call had begun"),
  "wait-at-barrier": tr("barrier: another rank came later"),
  "wait-for-all": tr("needs data of all ranks: another one came later"),
  "late-broadcast": tr("late root: it began later, and the others need its data"),
  "early-reduce": tr("early root: no other rank had begun yet"),
  "early-scan": tr("needs data of lower ranks: one came later"),
  "wait-at-finalize": tr("end of the job: another rank called MPI_Finalize() later"),
};

// ---------------------------------------------------------------------------------------------------- model

// Threads that call MPI are named by their rank.
function nameRanks(m) {
  const several = new Set(m.mpi.ranks.map((r) => r.job)).size > 1;
  m.mpi.ofProcess = new Map();
  for (const r of m.mpi.ranks) {
    r.label = several ? tr("rank %1 of job %2", r.rank, r.job + 1) : tr("rank %1", r.rank);
    m.mpi.ofProcess.set(r.process, r);
    m.threads.forEach((t, i) => {
      if (t.process !== r.process) return;
      t.rank = r;
      t.label = i === r.thread - 1 ? r.label : `${r.label} \u00b7 ${t.label}`;
    });
  }
}

function placeCalls(m, data) {
  const calls = data.calls,
    messages = data.messages;
  m.tables.calls = calls;
  for (const t of m.threads) t.callRows = [];
  calls.thread = new Uint32Array(calls.n);
  for (const row of calls.rows) {
    m.threads[row.a].callRows.push(row);
    calls.thread.fill(row.a, row.from, row.to);
  }
  for (let i = 1; i < messages.begin.length; i++) messages.begin[i] += messages.begin[i - 1];
  messages.reach = reachOf(messages.begin, (i) => messages.begin[i] + messages.ns[i]);
  m.messages = messages;
  m.stalls = stallsOf(m, calls);
}

// For each index the latest end up to it: of intervals sorted by begin, those that reach a moment begin at the first whose
// latest end does.
function reachOf(begin, end) {
  const reach = new Float64Array(begin.length);
  for (let i = 0, most = -Infinity; i < reach.length; i++) reach[i] = most = Math.max(most, end(i));
  return reach;
}

// The parts of calls in which they waited, as spans of their own; a call waits from its begin on.
function stallsOf(m, calls) {
  const n = calls.waitNs.reduce((sum, ns) => sum + (ns > 0), 0),
    t = {name: "stalls", n, begin: new Float64Array(n), ns: new Float64Array(n), idle: new Float64Array(n), more: new Uint32Array(n), flags: new Uint8Array(n), rows: []};
  let at = 0;
  for (const row of calls.rows) {
    const from = at;
    for (let i = row.from; i < row.to; i++) {
      if (!calls.waitNs[i]) continue;
      t.begin[at] = calls.begin[i];
      t.ns[at++] = Math.min(calls.waitNs[i], calls.ns[i]);
    }
    t.rows.push({table: t, a: row.a, b: 0, from, to: at});
    m.threads[row.a].stallRows = [...(m.threads[row.a].stallRows || []), t.rows[t.rows.length - 1]];
  }
  return t;
}

function callName(m, i) {
  const what = m.tables.calls.what[i];
  return what ? m.mpi.names[what - 1] : tr("several calls");
}

function isCollective(calls, i) {
  return calls.sequence[i] > 0 && !calls.more[i];
}

// Collective calls: {calls: their parts, those of group g from first[g] to first[g + 1], begin, end, reach}, by begin.
function collectives(m) {
  if (m.collectives) return m.collectives;
  const calls = m.tables.calls,
    parts = Uint32Array.from({length: calls.n}, (_, i) => i)
      .filter((i) => isCollective(calls, i))
      .sort((a, b) => calls.comm[a] - calls.comm[b] || calls.sequence[a] - calls.sequence[b] || calls.thread[a] - calls.thread[b]),
    groups = [];
  for (let i = 0, k; i < parts.length; i = k) {
    let begin = Infinity,
      end = 0;
    for (k = i; k < parts.length && calls.comm[parts[k]] === calls.comm[parts[i]] && calls.sequence[parts[k]] === calls.sequence[parts[i]]; k++) {
      begin = Math.min(begin, calls.begin[parts[k]]);
      end = Math.max(end, calls.begin[parts[k]] + calls.ns[parts[k]]);
    }
    groups.push({from: i, to: k, begin, end});
  }
  groups.sort((a, b) => a.begin - b.begin);
  const begin = Float64Array.from(groups, (g) => g.begin);
  m.collectives = {parts, groups, begin, reach: reachOf(begin, (i) => groups[i].end)};
  return m.collectives;
}

// The parts of a collective call, by its number and communicator.
function groupOf(m, i) {
  const {parts, groups} = collectives(m),
    calls = m.tables.calls,
    group = groups.find((g) => calls.comm[parts[g.from]] === calls.comm[i] && calls.sequence[parts[g.from]] === calls.sequence[i]);
  return group ? [...parts.subarray(group.from, group.to)] : [];
}

// The call of a thread at a moment, as a span's name; null if it is not kept.
function callAt(m, thread, ns) {
  const calls = m.tables.calls;
  for (const row of m.threads[thread].callRows) {
    const i = above(calls.begin, ns, row.from, row.to) - 1;
    if (i >= row.from && calls.begin[i] + calls.ns[i] >= ns) return {row, i, name: spanName(row, i)};
  }
  return null;
}

// Indices of the messages that a call sent or received.
function messagesOf(m, row, i) {
  const calls = m.tables.calls,
    begin = calls.begin[i],
    end = begin + calls.ns[i],
    s = m.messages,
    found = [];
  for (let k = above(s.reach, begin - 1, 0, s.reach.length); k < s.begin.length && s.begin[k] <= end; k++) {
    const received = s.begin[k] + s.ns[k];
    if (s.from[k] === row.a + 1 && s.begin[k] >= begin) found.push(k);
    else if (s.to[k] === row.a + 1 && received >= begin && received <= end) found.push(k);
  }
  return found;
}

function mpiComm(m, number) {
  const [id, ...members] = m.mpi.comms[number - 1] || ["?"],
    name = {"0x1": "MPI_COMM_WORLD", "0x2": "MPI_COMM_SELF"}[id] || id;
  return {name, members};
}

// A rank of a communicator, as that of the job where that is known.
function peerRank(m, comm, peer) {
  const process = mpiComm(m, comm).members[peer];
  return process ? m.mpi.ofProcess.get(process - 1) : null;
}

// The critical path of each job, in place of those of its ranks: steps of the threads that call MPI, without hops within a rank.
function placeJobPaths(m) {
  const made = [];
  for (const job of new Set(m.mpi.steps.map(([number]) => number))) {
    const steps = m.mpi.steps.filter(([number, thread]) => number === job && thread),
      n = steps.length,
      row = {
        begin: Float64Array.from(steps, (s) => s[2]),
        ns: Float64Array.from(steps, (s) => s[3] - s[2]),
        kind: new Uint8Array(n),
        thread: Uint32Array.from(steps, (s) => s[1] - 1),
        waker: Uint32Array.from(steps, (_, i) => (i ? steps[i - 1][1] : 0)),
        object: new Uint32Array(n),
      },
      end = n ? steps[n - 1][3] : 0,
      begin = n ? steps[0][2] : 0;
    const parts = m.mpi.parts.filter((p) => m.mpi.ofProcess.get(p.process)?.job === job);
    made.push({job: true, parts, row, steps: n, begin, end, early: 0, hops: Math.max(0, n - 1), run_ns: end - begin, wake_ns: 0, unknown_ns: 0, objects: []});
  }
  if (made.length) m.paths = [...made, ...m.paths.filter((p) => !m.mpi.ofProcess.has(p.process))];
}

// ------------------------------------------------------------------------------------------------------ lanes

// The lanes of ranks, by host: of a folded rank that of the thread that calls MPI alone.
function rankLanes(m, options, lanesOf) {
  if (!m.mpi) return [];
  const hosts = [...new Set(m.mpi.ranks.map((r) => r.host))],
    lanes = [],
    head = (key, title, note) => ({kind: "head", key, title, note, open: !options.folded.has(key), strips: [], height: ROOMY.head});
  for (const host of hosts) {
    const ranks = m.mpi.ranks.filter((r) => r.host === host),
      of = ranks.map((r) => lanesOf(r.process).sort((a, b) => (b.thread.index === r.thread - 1) - (a.thread.index === r.thread - 1))),
      first = head(`host ${host}`, tr("Ranks of host %1", tidy(host, 60)), count(ranks.length));
    if (of.every((all) => all.length === 0)) continue;
    lanes.push(first);
    ranks.forEach((r, i) => {
      if (!first.open) return;
      const own = head(`rank ${r.job}.${r.rank}`, r.label, plural(of[i].length, "thread"));
      if (of[i].length > 1) lanes.push(own);
      lanes.push(...(of[i].length > 1 && !own.open ? of[i].slice(0, 1) : of[i]));
    });
  }
  return lanes;
}

// Ranks that are folded at first: of many threads only those that call MPI are shown.
function foldedRanks(m) {
  const many = m.mpi && m.threads.length > DENSE_FROM;
  return many ? m.mpi.ranks.map((r) => `rank ${r.job}.${r.rank}`) : [];
}

function rankNote(r) {
  return tr("%1 in MPI, %2 waiting", percent(r.mpi, r.time), percent(r.wait, r.time));
}

// ---------------------------------------------------------------------------------------------------- drawing

function callColor(m, i) {
  const calls = m.tables.calls,
    found = calls.sequence[i] ? null : CALL_GROUPS.find(([pattern]) => pattern.test(callName(m, i)));
  return calls.sequence[i] ? COLLECTIVE_COLOR : found ? found[1] : MPI_OTHER_COLOR;
}

function callLook(m, dim) {
  const calls = m.tables.calls;
  return (i) => {
    const fill = callColor(m, i),
      polls = calls.more[i] > 0;
    return {
      fill,
      alpha: (polls ? 0.4 : 0.85) * (dim(calls, i) ? 0.15 : 1),
      ink: polls ? theme().ink : inkOn(fill),
      open: calls.flags[i] & UNFINISHED,
      text: () => (polls ? `${count(calls.more[i] + 1)}\u00d7 ` : "") + callName(m, i).replace("MPI_", "") + peerText(m, i),
    };
  };
}

function peerText(m, i) {
  const calls = m.tables.calls,
    peer = calls.peer[i] - MPI_SPECIAL;
  if (peer < 0 || calls.sequence[i]) return "";
  const rank = peerRank(m, calls.comm[i], peer);
  return ` ${/recv|probe/i.test(callName(m, i)) ? "\u2190" : "\u2192"} ${rank ? rank.label : peer}`;
}

// The part of each call in which it waited, at its lower edge.
function drawStalls(pen, thread, y, height) {
  const high = Math.max(2, Math.round(height / 4));
  for (const row of thread.stallRows || []) pen.row(row, y + height - high, high, () => ({fill: MPI_WAIT_COLOR}));
}

function callStrip(timeline, thread, top) {
  const lane = timeline.layout.ofThread.get(thread),
    strip = lane && lane.strips.find((s) => s.kind === "call");
  return strip ? {y: lane.y - top + strip.y, height: strip.height} : null;
}

// Bands of the collective calls in view: from part to part, each as long as it was.
function drawBands(pen, timeline, top) {
  const m = timeline.m,
    {groups, begin, reach, parts} = collectives(m),
    calls = m.tables.calls,
    drawn = new Set();
  pen.c.fillStyle = COLLECTIVE_COLOR;
  for (let g = above(reach, pen.from, 0, reach.length); g < groups.length && begin[g] < pen.to; g++) {
    const group = groups[g],
      narrow = (group.end - group.begin) * pen.scale < BAND_PX,
      key = Math.floor(pen.x(group.begin)) * (m.mpi.comms.length + 1) + calls.comm[parts[group.from]];
    if (group.end < pen.from || (narrow && drawn.has(key))) continue;
    if (narrow) drawn.add(key);
    drawBand(pen, timeline, [...parts.subarray(group.from, group.to)], top, 0.16);
  }
  const {chosen} = timeline;
  if (chosen && chosen.row.table === calls && isCollective(calls, chosen.index)) drawBand(pen, timeline, groupOf(m, chosen.index), top, 0.4);
  pen.c.globalAlpha = 1;
}

function drawBand(pen, timeline, parts, top, alpha) {
  const calls = timeline.m.tables.calls,
    c = pen.c,
    placed = parts
      .map((i) => ({at: callStrip(timeline, calls.thread[i], top), x0: pen.x(calls.begin[i]), x1: pen.x(calls.begin[i] + calls.ns[i])}))
      .filter((p) => p.at)
      .sort((a, b) => a.at.y - b.at.y);
  c.globalAlpha = alpha;
  for (let k = 1; k < placed.length; k++) {
    const a = placed[k - 1],
      b = placed[k];
    c.beginPath();
    c.moveTo(a.x0, a.at.y + a.at.height);
    c.lineTo(Math.max(a.x1, a.x0 + 1), a.at.y + a.at.height);
    c.lineTo(Math.max(b.x1, b.x0 + 1), b.at.y);
    c.lineTo(b.x0, b.at.y);
    c.fill();
  }
}

// Messages in view: {from, to, begin, end, n}, each alone, or with those close to it if there are many. Kept for as long as
// the same stretch of time is shown.
function messagesInView(m, pen) {
  const s = m.messages,
    key = `${pen.from} ${pen.to} ${pen.width}`;
  if (m.messages_seen && m.messages_seen.key === key) return m.messages_seen;
  const first = above(s.reach, pen.from, 0, s.reach.length),
    found = [];
  for (let i = first; i < s.begin.length && s.begin[i] < pen.to; i++)
    if (s.begin[i] + s.ns[i] > pen.from && s.from[i] && s.to[i]) found.push(i);
  m.messages_seen = {key, n: found.length, arrows: found.length > MESSAGES_MOST ? bundles(s, found, pen) : found.map((i) => arrowOf(s, i))};
  return m.messages_seen;
}

function arrowOf(s, i) {
  return {from: s.from[i] - 1, to: s.to[i] - 1, begin: s.begin[i], end: s.begin[i] + s.ns[i], n: 1};
}

function bundles(s, found, pen) {
  const by = new Map(),
    bin = (ns) => Math.max(-1, Math.min(4095, Math.floor(((ns - pen.from) * pen.scale) / BUNDLE_PX))) + 1;
  for (const i of found) {
    const at = ((s.from[i] * 65536 + s.to[i]) * 4097 + bin(s.begin[i])) * 4097 + bin(s.begin[i] + s.ns[i]),
      bundle = by.get(at);
    if (bundle) bundle.n++;
    else by.set(at, arrowOf(s, i));
  }
  return [...by.values()];
}

function drawMessages(pen, timeline, top, height) {
  const m = timeline.m,
    seen = messagesInView(m, pen),
    {chosen} = timeline;
  pen.c.strokeStyle = pen.c.fillStyle = theme().ink;
  for (const arrow of seen.arrows) drawMessage(pen, timeline, arrow, top, height, Math.min(0.8, 0.35 + Math.log10(arrow.n) / 5), Math.min(4, 1 + Math.log10(arrow.n)));
  if (chosen && chosen.row.table === m.tables.calls) {
    pen.c.strokeStyle = pen.c.fillStyle = theme().accent;
    for (const i of messagesOf(m, chosen.row, chosen.index).slice(0, MESSAGES_MOST))
      if (m.messages.from[i] && m.messages.to[i]) drawMessage(pen, timeline, arrowOf(m.messages, i), top, height, 1, 2);
  }
  pen.c.globalAlpha = 1;
  return seen.n;
}

// From the begin of the call that sent to the end of the one that received.
function drawMessage(pen, timeline, arrow, top, height, alpha, wide) {
  const a = callStrip(timeline, arrow.from, top),
    b = callStrip(timeline, arrow.to, top);
  if (!a || !b || Math.max(a.y, b.y) < 0 || Math.min(a.y, b.y) > height) return;
  const c = pen.c,
    down = b.y > a.y,
    x0 = pen.x(arrow.begin),
    y0 = a.y + (down ? a.height : 0),
    x1 = pen.x(arrow.end),
    y1 = b.y + (down ? 0 : b.height),
    length = Math.hypot(x1 - x0, y1 - y0) || 1,
    ux = (x1 - x0) / length,
    uy = (y1 - y0) / length;
  c.globalAlpha = alpha;
  c.lineWidth = wide;
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - 7 * ux - 3 * uy, y1 - 7 * uy + 3 * ux);
  c.lineTo(x1 - 7 * ux + 3 * uy, y1 - 7 * uy - 3 * ux);
  c.fill();
}

// ---------------------------------------------------------------------------------------------------- details

function callLink(m, thread, ns, label) {
  const call = callAt(m, thread, ns);
  return linkTo(m, label, call ? {chosen: call.name, thread} : {thread});
}

function rankLink(m, rank) {
  return rank.thread ? linkTo(m, rank.label, {thread: rank.thread - 1}) : rank.label;
}

// The rank that a call names: with a link to its lane.
function peerCell(m, i) {
  const calls = m.tables.calls,
    peer = calls.peer[i] - MPI_SPECIAL;
  if (peer < 0) return calls.peer[i] === MPI_ANY ? tr("any") : calls.peer[i] === MPI_PROC_NULL ? "MPI_PROC_NULL" : "";
  const rank = peerRank(m, calls.comm[i], peer),
    own = mpiComm(m, calls.comm[i]).name === "MPI_COMM_WORLD" ? "" : tr(", %1 in the communicator", peer);
  return rank ? [rankLink(m, rank), own] : tr("rank %1 of the communicator, not recorded", peer);
}

// The call that a call waited for: of the late rank, the one that sent the message, or took part in the collective call.
function causeCell(m, row, i) {
  const calls = m.tables.calls,
    cause = m.mpi.ranks.find((r) => r.rank === calls.cause[i] - 1 && r.job === m.threads[row.a].rank.job),
    part = calls.sequence[i] ? groupOf(m, i).find((k) => m.threads[calls.thread[k]].rank === cause) : undefined,
    message = messagesOf(m, row, i).find((k) => [m.messages.from[k], m.messages.to[k]].some((t) => t && t - 1 !== row.a && m.threads[t - 1].rank === cause));
  if (!cause) return "";
  if (part !== undefined) return callLink(m, calls.thread[part], calls.begin[part], cause.label);
  if (message === undefined) return rankLink(m, cause);
  const s = m.messages,
    received = s.to[message] === row.a + 1;
  return received
    ? callLink(m, s.from[message] - 1, s.begin[message], cause.label)
    : callLink(m, s.to[message] - 1, s.begin[message] + s.ns[message], cause.label);
}

function callBytes(coded) {
  return coded ? count(coded - 1) : "";
}

function callDetails(m, row, i) {
  const calls = row.table,
    comm = calls.comm[i] ? mpiComm(m, calls.comm[i]) : null,
    pattern = m.mpi.patterns[calls.wait[i]],
    collective = isCollective(calls, i),
    parts = collective ? groupOf(m, i) : [];
  return {
    title: [dot(callColor(m, i)), callName(m, i)],
    rows: [
      [tr("Thread"), threadLink(m, m.threads[row.a])],
      [tr("Kind"), calls.more[i] ? tr("MPI calls that found nothing, or several drawn as one") : tr("MPI call")],
      ...times(calls, i),
      [tr("Called at"), siteLink(m, calls.site[i])],
      comm ? [tr("Communicator"), comm.members.length ? tr("%1, %2", comm.name, plural(comm.members.length, "rank")) : comm.name] : null,
      [collective ? tr("Root") : tr("Other rank"), comm ? peerCell(m, i) : ""],
      collective && parts.length > 0 ? [tr("Ranks in it"), tr("%1 of %2", count(parts.length), count(comm.members.length))] : null,
      calls.tag[i] >= MPI_SPECIAL ? [tr("Tag"), String(calls.tag[i] - MPI_SPECIAL)] : calls.tag[i] === MPI_ANY ? [tr("Tag"), tr("any")] : null,
      [tr("Bytes"), callBytes(calls.bytes[i])],
      pattern ? [tr("Waited"), h("b", {class: "bad"}, duration(calls.waitNs[i]))] : null,
      pattern ? [tr("Because of"), MPI_WAITS[pattern] || pattern] : null,
      pattern ? [tr("Waited for"), causeCell(m, row, i)] : null,
      calls.flags[i] & FAILED ? [tr("Result"), h("b", {class: "bad"}, tr("an error"))] : null,
      calls.flags[i] & UNFINISHED ? [tr("End"), h("b", {class: "bad"}, tr("it had not returned when the recording ended"))] : null,
    ],
    stack: calls.stack[i],
    site: calls.site[i],
    more: [messageTable(m, row, i), parts.length > 1 ? partTable(m, parts) : null],
  };
}

function messageTable(m, row, i) {
  const s = m.messages,
    found = messagesOf(m, row, i);
  if (!found.length) return null;
  const isSent = (k) => s.from[k] === row.a + 1,
    other = (k) => (isSent(k) ? s.to[k] : s.from[k]) - 1,
    at = (k) => s.begin[k] + (isSent(k) ? s.ns[k] : 0);
  return [
    h("h4", null, tr("Messages")),
    table(
      [
        {title: tr("Rank"), value: other, cell: (k) => [isSent(k) ? "\u2192 " : "\u2190 ", other(k) < 0 ? tr("not known") : callLink(m, other(k), at(k), m.threads[other(k)].label)]},
        {title: tr("Bytes"), value: (k) => s.bytes[k], cell: (k) => callBytes(s.bytes[k]) || "?", number: true},
        {title: tr("Tag"), value: (k) => s.tag[k], number: true},
        {title: tr("Under way"), value: (k) => s.ns[k], cell: (k) => duration(s.ns[k]), number: true},
      ],
      found,
      {most: 12},
    ),
  ];
}

// The parts of a collective call, the last one to begin first.
function partTable(m, parts) {
  const calls = m.tables.calls,
    first = Math.min(...parts.map((k) => calls.begin[k])),
    later = (k) => calls.begin[k] - first;
  return [
    h("h4", null, tr("Ranks in it")),
    table(
      [
        {title: tr("Rank"), value: (k) => calls.thread[k], cell: (k) => callLink(m, calls.thread[k], calls.begin[k], m.threads[calls.thread[k]].label)},
        {title: tr("Began after the first"), value: later, cell: (k) => duration(later(k)), number: true},
        {title: tr("Lasted"), value: (k) => calls.ns[k], cell: (k) => duration(calls.ns[k]), number: true},
      ],
      [...parts].sort((a, b) => later(b) - later(a)),
      {most: 12},
    ),
  ];
}

function mpiLegend(m, line) {
  if (!m.mpi) return null;
  return [
    h("h4", null, tr("In the lanes of ranks")),
    CALL_GROUPS.slice(0, 3).map(([, color, text]) => line(color, 0.85, "14px", tr("MPI call: %1", text))),
    line(COLLECTIVE_COLOR, 0.85, "14px", tr("collective MPI call; a band joins the ranks in it")),
    line(MPI_WAIT_COLOR, 1, "4px", tr("below: it waited for another rank")),
    h("p", {class: "dim"}, tr("Arrows are messages, from the call that sent to the one that received.")),
    m.mpi.thinned ? h("p", {class: "note"}, tr("Of %1 messages only a part is on this page.", count(m.mpi.messages))) : null,
  ];
}

// What the path of a job leads through: of the whole run, whatever part of it is shown.
function jobPathTable(m, path) {
  const whole = path.parts.reduce((sum, p) => sum + p.ns, 0),
    where = (p) => {
      if (p.region) return tr("region %1", tidy(p.region, 120));
      if (!p.name) return tr("after the last MPI call");
      return tr(p.inside ? "in %1" : "before %1", p.name);
    };
  return table(
    [
      {title: tr("Rank"), value: (p) => m.mpi.ofProcess.get(p.process).rank, cell: (p) => rankLink(m, m.mpi.ofProcess.get(p.process))},
      {title: tr("Region or call"), value: where, class: "name"},
      {title: tr("Line"), value: (p) => m.siteText(p.site), cell: (p) => siteLink(m, p.site), class: "name"},
      {title: tr("On the path"), value: (p) => p.ns, cell: (p) => duration(p.ns), number: true},
      {title: tr("Share"), value: (p) => p.ns, cell: (p) => percent(p.ns, whole), number: true},
    ],
    path.parts,
    {most: 10, sort: null},
  );
}

// Ranks in the overview.
function rankPanel(m) {
  if (!m.mpi || m.isCut) return null;
  return panel(
    tr("Ranks of MPI"),
    table(
      [
        {title: tr("Rank"), value: (r) => r.rank, cell: (r) => rankLink(m, r)},
        {title: tr("Host"), value: (r) => r.host, cell: (r) => tidy(r.host, 60)},
        {title: tr("Time"), value: (r) => r.time, cell: (r) => (r.recorded ? duration(r.time) : tr("not recorded")), number: true},
        {title: tr("In MPI"), value: (r) => r.mpi, cell: (r) => percent(r.mpi, r.time), number: true},
        {title: tr("Waits in MPI"), value: (r) => r.wait, cell: (r) => percent(r.wait, r.time), number: true},
      ],
      m.mpi.ranks,
      {most: 16},
    ),
  );
}
