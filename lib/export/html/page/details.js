// SPDX-License-Identifier: MIT
// Details of the selected element, and of a measured time range.

function facts(rows) {
  return h(
    "dl",
    {class: "facts"},
    rows
      .filter((r) => r && r[1] !== "" && r[1] !== null && r[1] !== undefined)
      .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
  );
}

function dot(color) {
  return h("i", {class: "dot", style: {background: color}});
}

// A call stack with source lines, innermost first.
function stackList(m, stack, site) {
  const frames = stack ? m.stackFrames(stack) : m.siteFrames(site);
  if (frames.length === 0) return h("p", {class: "empty"}, tr("No call stack was recorded."));
  return h(
    "ol",
    {class: "stack"},
    frames.map((f) =>
      h(
        "li",
        {class: f.wrapper ? "wrapper" : f.remark === "inlined" ? "inlined" : null},
        h("code", {class: "fn"}, tidy(f.name, 160)),
        f.remark ? h("small", null, f.remark) : null,
        h(
          "small",
          {class: "where", title: tidy(f.file || f.module, 400)},
          f.file ? sourceLink(f.file, f.line, `${tidy(baseName(f.file), 80)}:${f.line}`) : f.module ? tidy(baseName(f.module), 80) : "",
        ),
      ),
    ),
    m.stackEnd(stack) ? h("li", {class: "cut"}, m.stackEnd(stack)) : null,
  );
}

function times(t, i) {
  const begin = t.begin[i],
    open = t.flags[i] & UNFINISHED;
  return [
    [tr("From"), exact(begin)],
    [open ? tr("Recorded until") : tr("To"), exact(begin + t.ns[i])],
    [tr("Lasted"), h("b", null, open ? tr("at least %1", duration(t.ns[i])) : duration(t.ns[i]))],
    t.more[i]
      ? [
          tr("Drawn as one"),
          tr("%1 of them, %2 together; the details below are of the longest's", count(t.more[i] + 1), duration(t.ns[i] - t.idle[i])),
        ]
      : null,
  ];
}

// The holder of a lock: its hold, where that is kept.
function holderLink(m, object, holder, ns) {
  const hold = object && holdAt(m, object, holder, ns);
  return linkTo(m, h("b", null, holder.label), hold ? {chosen: hold, thread: holder.index} : {thread: holder.index});
}

// The moment at which the holder that a thread waits for released the lock, as far as that is recorded.
function waitedUntil(w, i) {
  return w.begin[i] + w.ns[i] - (w.holder[i] && w.waker[i] === w.holder[i] ? w.wakerNs[i] : 0);
}

function waitDetails(m, row, i) {
  const w = row.table,
    o = m.object(w.what[i]),
    holder = m.thread(w.holder[i]),
    waker = m.thread(w.waker[i]),
    kind = WAIT_KINDS[w.kind[i]],
    calm = o ? o.calm : CALM.has(kind);
  const since = w.since[i] ? w.since[i] - 1 : null;
  return {
    title: [o ? dot(o.color) : null, o ? tr("Waiting for %1", o.title) : tr("Several waits")],
    rows: [
      [tr("Thread"), threadLink(m, m.threads[row.a])],
      o ? [tr("Object"), objectLink(m, o)] : null,
      [tr("Kind"), kind],
      ...times(w, i),
      [tr("Called at"), siteLink(m, w.site[i])],
      holder ? [tr("Held by"), holderLink(m, o, holder, w.begin[i])] : calm ? null : [tr("Held by"), tr("not known")],
      [tr("Acquired at"), siteLink(m, w.holderSite[i])],
      holder
        ? [tr("Held since"), since === null ? tr("at least the begin of the wait") : tr("%1 before the wait", duration(since))]
        : null,
      waker
        ? [
            calm ? tr("Last signalled by") : tr("Let go by"),
            [threadLink(m, waker), tr(", %1 before the end", duration(w.wakerNs[i]))],
          ]
        : null,
      w.flags[i] & UNFINISHED ? [tr("End"), h("b", {class: "bad"}, tr("it had not ended when the recording did"))] : null,
    ],
    stack: w.stack[i],
    wakerStack: w.wakerStack[i],
    holderStack: w.holderStack[i],
    samples: holder && [tr("Executed by the holder meanwhile"), holder, w.begin[i] - (since || 0), waitedUntil(w, i)],
    site: w.site[i],
    object: o,
  };
}

function regionDetails(m, row, i) {
  const r = row.table,
    region = r.what[i] ? m.regions[r.what[i] - 1] : null;
  return {
    title: [region ? tidy(region.name, 200) : tr("Several regions")],
    rows: [
      [tr("Thread"), threadLink(m, m.threads[row.a])],
      [tr("Kind"), tr("region")],
      [tr("Depth"), row.b + 1],
      ...times(r, i),
      ...(r.more[i] ? [] : m.counters.map((c, k) => [c.name, counterOfRegion(m, c, k, i)])),
      region
        ? [
            tr("All of this name"),
            tr("%1, mean %2, longest %3", count(region.count), duration(region.wall_ns / Math.max(1, region.count)), duration(region.max_ns)),
          ]
        : null,
    ],
  };
}

function counterOfRegion(m, counter, k, i) {
  const coded = m.regionCounts[k][i],
    status = STATUSES[coded % 8] || "not counted";
  return counted({value: status === "exact" || status === "scaled" ? Math.floor(coded / 8) : null, status}, counter);
}

function holdDetails(m, row, i) {
  const holds = row.table,
    o = m.objects[row.a],
    begin = holds.begin[i],
    end = begin + holds.ns[i],
    flags = holds.flags[i];
  let waiters = 0;
  for (const r of m.tables.waits.rows)
    for (
      let k = Math.max(r.from, above(r.table.begin, begin, r.from, r.to) - 1);
      k < r.to && r.table.begin[k] < end;
      k++
    )
      waiters += r.table.what[k] === o.index + 1 && r.table.begin[k] + r.table.ns[k] > begin ? r.table.more[k] + 1 : 0;
  return {
    title: [dot(o.color), tr("Holding %1", o.title)],
    rows: [
      [tr("Thread"), threadLink(m, m.threads[row.b])],
      [tr("Object"), objectLink(m, o)],
      [tr("Kind"), flags & SAMPLED ? tr("hold, one sample in many") : tr("hold")],
      ...times(holds, i),
      [tr("Acquired at"), siteLink(m, holds.site[i])],
      flags & AT_LEAST ? [tr("Begin"), tr("acquired then or before: not recorded")] : null,
      [tr("Waits meanwhile"), count(waiters)],
      flags & UNFINISHED ? [tr("End"), h("b", {class: "bad"}, tr("not released while others waited"))] : null,
    ],
    samples: [tr("Executed meanwhile"), m.threads[row.b], begin, end],
    site: holds.site[i],
    object: o,
  };
}

function describe(m, row, i) {
  return row.table.name === "waits"
    ? waitDetails(m, row, i)
    : row.table.name === "regions"
      ? regionDetails(m, row, i)
      : row.table.name === "calls"
        ? callDetails(m, row, i)
        : holdDetails(m, row, i);
}

// A thread, in the details of its lane.
function threadDetails(m, t) {
  return [
    facts([
      [tr("Began"), exact(t.begin)],
      [tr("Lived"), duration(t.life)],
      [tr("Blocked"), `${duration(t.blocked_ns)} (${percent(t.blocked_ns, t.life)})`],
      onCpu(t) === null ? null : [tr("Running"), `${duration(onCpu(t))} (${percent(onCpu(t), t.life)})`],
      t.sched ? [tr("Preempted"), `${duration(t.sched.preempted_ns)} (${percent(t.sched.preempted_ns, t.life)})`] : null,
      [tr("Switches"), counted(t.switches)],
      ...m.counters.map((c, i) => (t.counters[i] ? [c.name, counted(t.counters[i].sum, c)] : null)),
    ]),
    h("h4", null, tr("Waited for")),
    table(
      [
        {title: tr("Kind"), value: (w) => w.kind},
        {title: tr("Time"), value: (w) => waited(w.sum), cell: (w) => duration(waited(w.sum)), number: true},
        {title: tr("Times"), value: (w) => waitCount(w.sum), cell: (w) => count(waitCount(w.sum)), number: true},
      ],
      Object.entries(t.waits)
        .map(([kind, sum]) => ({kind, sum}))
        .filter((w) => waitCount(w.sum) > 0)
        .sort((a, b) => waited(b.sum) - waited(a.sum)),
      {empty: tr("Nothing that was recorded.")},
    ),
    sampledIn(m, tr("Executed"), t, t.begin, t.begin + t.life),
  ];
}

// A lock or other object, in the details of its lane.
function objectDetails(m, o) {
  return [
    facts([
      [tr("Address"), o.address],
      [tr("Created at"), siteLink(m, o.init)],
      [tr("Waited for"), `${duration(o.waitedNs)} (${count(waitCount(o.waits))})`],
      [tr("Longest wait"), o.waits.count ? duration(o.waits.max_ns) : ""],
      [tr("Acquired"), o.acquisitions ? (o.counts_exact ? "" : "\u2265\u202f") + count(o.acquisitions) : ""],
      [tr("Held"), o.holds ? `${duration(o.hold_ns)} (${count(o.holds)})` : ""],
    ]),
    sampledHolders(m, o),
    lockSites(m, o),
  ];
}

// The line under the pointer.
function tip(m, row, i) {
  const d = describe(m, row, i),
    wanted = new Set([tr("Thread"), tr("Other rank"), tr("Bytes"), tr("Waited"), tr("Waited for"), tr("Held by"), tr("Lasted"), tr("Acquired at"), tr("Called at")]);
  return [
    h("b", null, d.title),
    d.rows
      .filter((r) => r && wanted.has(r[0]) && r[1])
      .map((r) => h("div", null, h("span", {class: "dim"}, r[0] + " "), r[1])),
  ];
}

// ------------------------------------------------------------------------------------------------ measuring

// What happened between two moments: waits by lock and regions by name, cut at both ends.
function measured(m, from, to) {
  const objects = new Map(),
    regions = new Map();
  const add = (sums, key, ns, more) => {
    const sum = sums.get(key) || {ns: 0, n: 0};
    sum.ns += ns;
    sum.n += more + 1;
    sums.set(key, sum);
  };
  for (const [table, sums] of [
    [m.tables.waits, objects],
    [m.tables.regions, regions],
  ]) {
    for (const row of table.rows) {
      for (
        let i = Math.max(row.from, above(table.begin, from, row.from, row.to) - 1);
        i < row.to && table.begin[i] < to;
        i++
      ) {
        const part = Math.min(to, table.begin[i] + table.ns[i]) - Math.max(from, table.begin[i]);
        if (part < 0 || (part === 0 && table.ns[i] > 0)) continue;
        add(sums, table.what[i], part * (table.ns[i] ? 1 - table.idle[i] / table.ns[i] : 1), table.more[i]);
      }
    }
  }
  const list = (sums, name) =>
    [...sums]
      .map(([what, s]) => ({...s, name: what ? name(what - 1) : tr("several")}))
      .sort((a, b) => b.ns - a.ns)
      .slice(0, 12);
  return {
    waits: list(objects, (i) => m.objects[i].title),
    regions: list(regions, (i) => tidy(m.regions[i].name, 120)),
    counters: m.counters.map((c, i) => [c, curveAt(m.counterCurve(i), to) - curveAt(m.counterCurve(i), from)]),
  };
}

function measuredDetails(m, from, to) {
  const sums = measured(m, from, to),
    columns = [
      {title: tr("What"), value: (r) => r.name, class: "name"},
      {title: tr("Time"), value: (r) => r.ns, cell: (r) => duration(r.ns), number: true},
      {title: tr("Times"), value: (r) => r.n, cell: (r) => count(r.n), number: true},
    ];
  const ran = m.samples && m.threads.reduce((all, t) => sampledBetween(m, t, from, to, all), {n: 0, weight: 0, by: new Map()});
  return [
    h("h3", null, tr("%1 measured", duration(to - from))),
    facts([
      [tr("From"), exact(from)],
      [tr("To"), exact(to)],
      ...sums.counters
        .filter(([, n]) => n > 0)
        .map(([c, n]) => [c.name, (c.scaled ? "~" : "") + tr("about %1", counted({value: n, status: "exact"}, c))]),
    ]),
    h("h4", null, tr("Waits in it")),
    table(columns, sums.waits, {empty: tr("No thread waited.")}),
    ran?.n ? [h("h4", null, tr("Executed in it")), sampledTable(m, ran)] : null,
    m.regions.length ? [h("h4", null, tr("Regions in it")), table(columns, sums.regions, {empty: tr("No region.")})] : null,
  ];
}
