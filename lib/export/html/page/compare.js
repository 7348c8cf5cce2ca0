// SPDX-License-Identifier: MIT
// Comparison with an older recording: threads, locks, regions and call paths matched by what they are called in both.

const COMPARE_SIDES = ["was", "now"];

// Ids of threads and addresses differ from run to run.
function threadKey(t) {
  return t.name ? tidy(t.name, 120) : t.label.replace(/ \d+$/, "") || tr("(unnamed)");
}

function objectKey(m, o) {
  if (o.peer) {
    const ends = m.byTid.get(`${o.process}.${o.peer}`);
    return ends ? tr("end of %1", threadKey(ends)) : tr("end of a thread");
  }
  if (o.call) return o.title;
  const site = o.group ? "" : o.sites.map((s) => m.siteText(s.site)).find(Boolean);
  return tidy(`${o.type} ${o.group || (site ? tr("used at %1", site) : tr("(unknown location)"))}`, 120);
}

// Rows of both recordings by key: {key, was, now}, each side the sum of `measure(row)`, which has numbers only.
function matched(sides, keyOf, measure) {
  const by = new Map();
  sides.forEach(([m, rows], side) => {
    for (const row of rows) {
      const sums = entry(by, keyOf(row, m), () => ({key: keyOf(row, m), was: null, now: null})),
        name = COMPARE_SIDES[side],
        more = measure(row, m);
      if (!sums[name]) sums[name] = more;
      else for (const key of Object.keys(more)) sums[name][key] += more[key];
    }
  });
  return [...by.values()];
}

const sideValue = (row, side, key) => row[side]?.[key] ?? 0;

function changeOf(row, key) {
  return sideValue(row, "now", key) - sideValue(row, "was", key);
}

function signed(change, format) {
  if (change === 0) return "0";
  return (change > 0 ? "+" : "\u2212") + format(Math.abs(change));
}

function changeText(row, key, format) {
  const was = sideValue(row, "was", key),
    change = changeOf(row, key);
  if (!row.was) return tr("new");
  if (!row.now) return tr("gone");
  if (change === 0) return "0";
  return was > 0 ? `${signed(change, format)} (${signed(change / was, (n) => percent(n, 1))})` : signed(change, format);
}

function changeCell(row, key, format) {
  const change = changeOf(row, key);
  return h("span", {class: change > 0 ? "more-time" : change < 0 ? "less-time" : null}, changeText(row, key, format));
}

// Columns before, now and change of one measure.
function compareColumns(title, key, format) {
  const side = (name, words) => ({
    title: words,
    value: (row) => sideValue(row, name, key),
    cell: (row) => (row[name] ? format(row[name][key]) : "\u2013"),
    number: true,
  });
  return [
    side("was", tr("%1 before", title)),
    side("now", tr("Now")),
    {title: tr("Change"), value: (row) => changeOf(row, key), cell: (row) => changeCell(row, key, format), number: true},
  ];
}

// measures: [title, key, format]; rows come by the size of the first one's change.
function compareTable(title, name, rows, measures) {
  const [[, first]] = measures,
    seen = rows.filter((row) => measures.some(([, key]) => sideValue(row, "was", key) || sideValue(row, "now", key)));
  seen.sort((a, b) => Math.abs(changeOf(b, first)) - Math.abs(changeOf(a, first)) || (a.key < b.key ? -1 : 1));
  return panel(
    title,
    table([{title: name, value: (row) => row.key, class: "name"}, ...measures.flatMap((m) => compareColumns(...m))], seen, {
      most: 12,
      empty: tr("None in either recording."),
    }),
  );
}

// ----------------------------------------------------------------------------------------------------- panels

function compareCard(title, was, now, format) {
  const row = {was: {n: was}, now: {n: now}};
  return h(
    "div",
    {class: "card"},
    h("div", {class: "title"}, title),
    h("div", {class: "value"}, format(now)),
    h("div", {class: "note"}, tr("was %1: ", format(was)), changeCell(row, "n", format)),
  );
}

function compareCards(old, now) {
  const locks = (m) => m.objects.filter((o) => !o.calm).reduce((n, o) => n + o.waitedNs, 0),
    waits = (m) => m.objects.filter((o) => !o.calm).reduce((n, o) => n + waitCount(o.waits), 0),
    blocked = (m) => m.threads.reduce((n, t) => n + t.blocked_ns, 0),
    card = (title, of, format) => compareCard(title, of(old), of(now), format);
  return h(
    "div",
    {class: "cards"},
    card(tr("Recorded"), (m) => m.length, duration),
    card(tr("Waiting for locks"), locks, duration),
    card(tr("Waits for locks"), waits, count),
    card(tr("Blocked in all"), blocked, duration),
    card(tr("Threads"), (m) => m.threads.length, count),
    card(tr("Deadlocks"), (m) => (m.deadlocks.items || []).filter((i) => i.certainty === "certain").length, count),
  );
}

function recordingFacts(title, m) {
  const p = m.processes[0];
  return h(
    "dl",
    {class: "facts"},
    h("div", null, h("dt", null, title), h("dd", null, p ? h("code", null, tidy(p.command, 200)) : "\u2013")),
    p ? h("div", null, h("dt", null, tr("Began")), h("dd", null, tr("%1 on %2", localTime(p.start_ns), tidy(p.host, 60)))) : null,
  );
}

function compareFindings(old, now) {
  if (old.findings.length + now.findings.length === 0) return null;
  const list = (title, m) => [
    h("h3", null, title),
    m.findings.length
      ? h("ol", {class: "findings"}, m.findings.map((f) => h("li", null, findingText(f.text), tr(". ").trim())))
      : h("p", {class: "empty"}, tr("None.")),
  ];
  return panel(tr("Findings"), list(tr("Now"), now), list(tr("Before"), old));
}

// Paths of both recordings by their stable names; `side` is whose time gives the widths.
function comparePaths(old, now, of, side) {
  const stable = (m, paths) => {
    const names = new Map();
    for (const t of m.threads) names.set(t.label, threadKey(t));
    for (const o of m.objects) names.set(waitFor(o.title), waitFor(objectKey(m, o))).set(o.title, objectKey(m, o));
    const name = (text) => names.get(text) ?? text.replace(/^(.*(?:\bthread|线程)) \d+$/, "$1");
    return paths.map((p) => ({...p, thread: name(p.thread), lock: name(p.lock), frames: p.frames.map((f) => (f.wait ? {...f, name: name(f.name)} : f))}));
  };
  const make = of === "regions" ? regionPaths : waitPaths,
    sides = {was: stable(old, make(old)), now: stable(now, make(now))},
    other = side === "now" ? "was" : "now";
  return [...sides[side].map((p) => ({...p, other: 0})), ...sides[other].map((p) => ({...p, other: p.ns, ns: 0, count: 0}))];
}

// Gray where nothing changed; red for more time and blue for less, full if all of it came or went.
function changeColor(side) {
  return (n, dark) => {
    const was = side === "now" ? n.other : n.ns,
      now = side === "now" ? n.ns : n.other,
      share = Math.abs(now - was) / Math.max(1, was, now),
      hueOf = now > was ? 4 : 214;
    return `hsl(${hueOf} ${Math.round(75 * share)}% ${dark ? 32 + 8 * share : 90 - 18 * share}%)`;
  };
}

function compareFlame(app, old, now) {
  const place = h("div"),
    gone = h("p", {class: "note"}),
    tools = h("div", {class: "bar-tools"}),
    state = app.flame,
    change = (by) => {
      Object.assign(state, by);
      draw();
      app.noteNow();
    };
  const ofs = [
      ["blocked", tr("Blocked time by call stack")],
      ["regions", tr("Wall time by region")],
    ],
    buttons = ofs.map(([of, title]) => button(title, () => change({of}), {"aria-pressed": "false"})),
    split = h(
      "select",
      {"aria-label": tr("Split the flame graph"), onchange: () => change({split: split.value})},
      FLAME_SPLITS.map(([key, title]) => h("option", {value: key}, title)),
    ),
    up = button(tr("Bottom-up"), () => change({up: !state.up}), {title: tr("Callers above what they call: the innermost functions first")}),
    widths = button(tr("Widths of before"), () => change({before: !state.before}), {title: tr("What is gone has a width in the older recording only")});
  function draw() {
    const of = state.of === "regions" ? "regions" : "blocked",
      side = state.before ? "was" : "now";
    if (!FLAME_SPLITS.some(([key]) => key === state.split)) state.split = "";
    buttons.forEach((b, k) => b.setAttribute("aria-pressed", ofs[k][0] === of));
    up.setAttribute("aria-pressed", Boolean(state.up));
    widths.setAttribute("aria-pressed", Boolean(state.before));
    split.value = state.split;
    place.replaceChildren();
    const root = flameTree(comparePaths(old, now, of, side), state),
      words = (n) => {
        const row = side === "now" ? {was: {ns: n.other}, now: {ns: n.ns}} : {was: {ns: n.ns}, now: {ns: n.other}};
        if (!row.was.ns) row.was = null;
        if (!row.now.ns) row.now = null;
        return tr("%1 before, %2 now: %3", duration(row.was?.ns ?? 0), duration(row.now?.ns ?? 0), changeText(row, "ns", duration));
      };
    app.flame_shown = new Flame(place, root, app, {up: state.up, color: changeColor(side), words});
    const lost = hiddenTime(root);
    gone.textContent =
      lost > 0
        ? tr(side === "now" ? "%1 of paths that are gone have no width here." : "%1 of paths that are new have no width here.", duration(lost))
        : "";
  }
  fill(tools, [buttons, split, up, widths]);
  draw();
  return panel(
    tr("Where it changed"),
    tools,
    place,
    h("p", {class: "note"}, tr("Red: more time than before; blue: less; gray: the same. A box is as wide as its time now, or before.")),
    gone,
  );
}

// Time of the other recording in boxes without a width.
function hiddenTime(n) {
  if (n.ns === 0) return n.other;
  return n.children.reduce((sum, child) => sum + hiddenTime(child), 0);
}

function showCompare(app) {
  const old = app.base,
    now = app.recording,
    sides = (of) => [
      [old, of(old)],
      [now, of(now)],
    ],
    onPath = (m, o) => m.paths.reduce((n, p) => n + p.objects.filter((x) => x.object === o.index).reduce((k, x) => k + x.held_ns, 0), 0);
  fill(byId("compare"), [
    panel(tr("Two recordings"), recordingFacts(tr("Now"), now), recordingFacts(tr("Before"), old)),
    compareCards(old, now),
    compareFindings(old, now),
    compareTable(
      tr("Locks and what else was waited for"),
      tr("Object"),
      matched(sides((m) => m.objects), (o, m) => objectKey(m, o), (o, m) => ({waited: o.waitedNs, waits: waitCount(o.waits), path: onPath(m, o)})),
      [
        [tr("Waited"), "waited", duration],
        [tr("Waits"), "waits", count],
        [tr("Held on the critical path"), "path", duration],
      ],
    ),
    compareFlame(app, old, now),
    compareTable(
      tr("Functions that wait"),
      tr("Function"),
      matched(sides(functionRows), (f) => f.name, (f) => ({own: f.own, all: f.all})),
      [
        [tr("Blocked in it"), "own", duration],
        [tr("And below it"), "all", duration],
      ],
    ),
    compareTable(
      tr("Threads"),
      tr("Thread"),
      matched(sides((m) => m.threads), threadKey, (t) => ({blocked: t.blocked_ns, life: t.life, n: 1})),
      [
        [tr("Blocked"), "blocked", duration],
        [tr("Life"), "life", duration],
        [tr("Number"), "n", count],
      ],
    ),
    compareTable(
      tr("Regions"),
      tr("Region"),
      matched(sides((m) => m.regions.filter((r) => r.name !== "(thread)")), (r) => tidy(r.name, 120), (r) => ({wall: r.wall_ns, times: r.count})),
      [
        [tr("Wall time"), "wall", duration],
        [tr("Times"), "times", count],
      ],
    ),
  ]);
}
