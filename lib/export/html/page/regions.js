// SPDX-License-Identifier: MIT
// Regions and functions: flame graph of time by region or of blocked time by call stack, and tables of both.

// Own time of regions by name: what is in no region inside, and in no wait.
function ownTimes(root) {
  const own = new Map(),
    line = [root];
  while (line.length) {
    const n = line.pop();
    if (!n.wait) own.set(n.name, (own.get(n.name) || 0) + n.own);
    line.push(...n.children);
  }
  return own;
}

function regionTable(m, root) {
  const own = ownTimes(root),
    columns = [
      {title: tr("Region"), value: (r) => tidy(r.name, 120), class: "name"},
      {
        title: tr("Times"),
        value: (r) => r.count,
        cell: (r) => count(r.count) + (r.unfinished ? tr(" (+%1 not ended)", count(r.unfinished)) : ""),
        number: true,
      },
      {title: tr("Wall time"), value: (r) => r.wall_ns, cell: (r) => duration(r.wall_ns), number: true},
      {
        title: tr("Own"),
        value: (r) => own.get(tidy(r.name, 200)) || 0,
        cell: (r) => duration(own.get(tidy(r.name, 200)) || 0),
        number: true,
        hint: tr("in no region inside it, and not waiting"),
      },
      {
        title: tr("Mean"),
        value: (r) => r.wall_ns / Math.max(1, r.count),
        cell: (r) => (r.count ? duration(r.wall_ns / r.count) : "\u2013"),
        number: true,
      },
      {title: tr("Shortest"), value: (r) => r.min_ns ?? -1, cell: (r) => duration(r.min_ns), number: true},
      {title: tr("Longest"), value: (r) => r.max_ns, cell: (r) => (r.count ? duration(r.max_ns) : "\u2013"), number: true},
      ...counterColumns(m, m.regions),
    ];
  return table(
    columns,
    m.regions.filter((r) => r.name !== "(thread)"),
    {empty: tr("The program has no regions of its own; docs/guide.md describes how to add them.")},
  );
}

// Functions on the way to a wait: their own time is that of waits called in them; a function counts once per stack. Wrappers of locks and
// starts of threads are none of the program's, as in call sites.
function functionRows(m) {
  const by = new Map();
  for (const [, stack, site, , times_, ns] of m.blocked) {
    const all = stack ? m.stackFrames(stack) : m.siteFrames(site),
      own = all.filter((f) => !f.wrapper),
      frames = own.length ? own : all,
      seen = new Set();
    frames.forEach((f, i) => {
      const key = `${f.name}\n${f.file}`;
      if (!by.has(key))
        by.set(key, {
          name: tidy(f.name, 120),
          where: f.file ? tidy(baseName(f.file), 80) : tidy(baseName(f.module), 80),
          own: 0,
          all: 0,
          count: 0,
        });
      const row = by.get(key);
      if (i === 0) row.own += ns;
      if (seen.has(key)) return;
      seen.add(key);
      row.all += ns;
      row.count += times_;
    });
  }
  return [...by.values()].sort((a, b) => b.own - a.own || b.all - a.all);
}

function functionTable(m) {
  return table(
    [
      {title: tr("Function"), value: (f) => f.name, class: "name"},
      {title: tr("In"), value: (f) => f.where, class: "site"},
      {
        title: tr("Blocked in it"),
        value: (f) => f.own,
        cell: (f) => (f.own ? duration(f.own) : "\u2013"),
        number: true,
        hint: tr("waits called by the function itself"),
      },
      {
        title: tr("And below it"),
        value: (f) => f.all,
        cell: (f) => duration(f.all),
        number: true,
        hint: tr("with those of functions that it called"),
      },
      {title: tr("Waits"), value: (f) => f.count, cell: (f) => count(f.count), number: true},
    ],
    functionRows(m),
    {most: 25, empty: tr("No wait with a call stack was recorded.")},
  );
}

const FLAME_SPLITS = [
  ["", tr("All threads together")],
  ["thread", tr("By thread")],
  ["lock", tr("By lock")],
];

// A flame graph with its choices: what is measured, how it is split, which way up. The address has them.
function flamePanel(app, sources) {
  const place = h("div"),
    found = h("span", {class: "found", role: "status"}),
    tools = h("div", {class: "bar-tools"}),
    state = app.flame;
  let flame = null;
  const search = h("input", {
    type: "search",
    placeholder: tr("Search"),
    "aria-label": tr("Search the flame graph"),
    oninput: () => {
      const ns = flame.search(search.value);
      found.textContent = ns === null ? "" : `${duration(ns)}, ${percent(ns, flame.root.ns)}`;
    },
  });
  const change = (by) => {
    Object.assign(state, by);
    draw();
    app.noteNow();
  };
  const buttons = sources.map((s) => button(s.title, () => change({of: s.key}), {"aria-pressed": "false"})),
    split = h(
      "select",
      {"aria-label": tr("Split the flame graph"), onchange: () => change({split: split.value})},
      FLAME_SPLITS.map(([key, title]) => h("option", {value: key}, title)),
    ),
    busy = button(tr("Hide idle"), () => change({busy: !state.busy}), {title: tr("Threads that wait for events for nearly all of their life")}),
    up = button(tr("Bottom-up"), () => change({up: !state.up}), {title: tr("Callers above what they call: the innermost functions first")});
  function draw() {
    const source = sources.find((s) => s.key === state.of) || sources[0];
    if (!FLAME_SPLITS.some(([key]) => key === state.split)) state.split = "";
    buttons.forEach((b, k) => b.setAttribute("aria-pressed", sources[k] === source));
    up.setAttribute("aria-pressed", Boolean(state.up));
    busy.setAttribute("aria-pressed", Boolean(state.busy));
    busy.hidden = !source.idle?.size;
    split.value = state.split;
    split.hidden = Boolean(source.together);
    place.replaceChildren();
    const paths = state.busy && source.idle ? source.paths.filter((p) => !source.idle.has(p.thread)) : source.paths;
    flame = new Flame(place, flameTree(paths, source.together ? {up: state.up} : state), app, {up: state.up});
    app.flame_shown = flame;
    flame.search(search.value);
  }
  fill(tools, [buttons, split, up, busy, h("span", {class: "space"}), found, search]);
  draw();
  return panel(
    tr("Where the time goes"),
    tools,
    place,
    h(
      "p",
      {class: "note"},
      tr("A box is as wide as its time. Orange: regions and functions; blue and pink: waits, those for locks pink; gray: neither. A click zooms, a click on the topmost box goes back. "),
      tr("Bottom-up, each box is called by those below it."),
    ),
  );
}

function showRegions(app) {
  const m = app.model,
    regions = regionPaths(m),
    sources = [];
  if (m.functions?.list.length) sources.push({key: "functions", title: tr("Time in functions by call path"), paths: callPaths(m), together: true});
  if (m.regions.some((r) => r.name !== "(thread)")) sources.push({key: "regions", title: tr("Wall time by region"), paths: regions});
  if (m.blocked.length) sources.push({key: "blocked", title: tr("Blocked time by call stack"), paths: waitPaths(m)});
  if (m.samples?.isTime) {
    const idle = new Set(m.threads.filter(isIdle).map((t) => t.label));
    sources.push({key: "samples", title: tr("CPU time by samples"), paths: samplePaths(m)});
    sources.push({key: "wall", title: tr("Wall time: samples and waits"), paths: wallPaths(m), idle});
  }
  fill(byId("regions"), [
    sources.length
      ? flamePanel(app, sources)
      : panel(tr("Where the time goes"), h("p", {class: "empty"}, tr("Neither regions nor waits were recorded."))),
    m.functions ? panel(tr("Recorded functions"), recordedTable(app, m.functions)) : null,
    panel(tr("Regions"), regionTable(m, flameTree(regions, {split: "thread"}))),
    panel(tr("Functions that wait"), functionTable(m)),
  ]);
}
