// SPDX-License-Identifier: MIT
// The overview: what the recording is worth, threads, contention over time, locks, who waited for whom. Before it:
// model.js and charts.js; after it: app.js.

function card(title, value, note, warn) {
  return h(
    "div",
    {class: warn ? "card warn" : "card"},
    h("div", {class: "title"}, title),
    h("div", {class: "value"}, value),
    h("div", {class: "note"}, note),
  );
}

function cards(m) {
  const blocked = m.threads.reduce((n, t) => n + t.blocked, 0);
  const contended = m.objects.filter((o) => !o.calm),
    locks = contended.reduce((n, o) => n + o.waited, 0);
  const waits = contended.reduce((n, o) => n + o.waits[0] + o.waits[3], 0),
    worst = contended[0];
  const stuck = (m.deadlocks.items || []).length;
  return h(
    "div",
    {class: "cards"},
    card(
      "Recorded",
      duration(m.length),
      `${plural(m.events, "event")}, ${plural(m.threads.length, "thread")}${m.processes.length > 1 ? `, ${plural(m.processes.length, "process", "processes")}` : ""}`,
    ),
    card(
      "Waiting for locks",
      duration(locks),
      waits ? `${plural(waits, "wait")}, ${percent(locks, m.lifetime)} of the threads' lives` : "nobody had to wait",
    ),
    card(
      "Waited for most",
      worst && worst.waited ? worst.title : "\u2013",
      worst && worst.waited
        ? `${duration(worst.waited)}, longest ${duration(worst.waits[2] || worst.waits[4])}`
        : "no lock was contended",
    ),
    card(
      "Blocked in all",
      percent(blocked, m.lifetime),
      `${duration(blocked)}, with waits for signals, ends and posts`,
    ),
    card(
      "Deadlocks",
      m.deadlocks.problem ? "?" : stuck ? count(stuck) : "none",
      stuck ? "see Deadlock" : m.deadlocks.without ? "not known of every process" : "",
      stuck > 0,
    ),
    card(
      "Lost",
      m.lost || m.damages.length ? count(m.lost) + (m.damages.length ? " +" : "") : "nothing",
      m.damages.length
        ? `${plural(m.damages.length, "stream")} damaged`
        : m.lost
          ? "events that did not fit"
          : "every event was kept",
      m.lost > 0 || m.damages.length > 0,
    ),
  );
}

// ---------------------------------------------------------------------------------------------- contention

function contentionPanel(app) {
  const m = app.model,
    layers = contention(m, 600),
    most = Math.max(1, Math.ceil(mostBlocked(layers)));
  if (layers.length === 0)
    return panel(
      "Blocked threads over time",
      h("p", {class: "empty"}, "No thread waited for anything that was recorded."),
    );
  const place = h("div", {
    class: "chart",
    role: "img",
    "aria-label": `Blocked threads over time: at most ${most} at once. The tables below have the numbers.`,
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
    axisMarks(0, m.length || 1, width - left, (x, label) => {
      c.fillStyle = t.grid;
      c.fillRect(left + Math.round(x), 6, 1, height - bottom - 2);
      c.fillStyle = t.dim;
      if (x + 40 < width - left) c.fillText(label, left + x + 4, height - bottom / 2 + 2);
    });
  });
  chart.canvas.addEventListener("click", (e) => {
    const at = ((e.offsetX - 30) / (chart.canvas.clientWidth - 30)) * m.length;
    app.show("timeline", {from: at - m.length / 40, to: at + m.length / 40});
  });
  app.onTheme(chart.ask);
  const key = h(
    "div",
    {class: "key"},
    layers.map((l) => h("span", {class: l.calm ? "calm" : ""}, h("i", {style: {background: l.colour}}), l.title)),
  );
  return panel(
    "Blocked threads over time",
    place,
    key,
    h(
      "p",
      {class: "note"},
      "Full colour: waits for locks. Pale: waits for signals, posts and ends of threads. A click opens that moment in the timeline.",
    ),
  );
}

function panel(title, ...content) {
  return h("section", {class: "panel"}, h("h2", null, title), ...content);
}

// ------------------------------------------------------------------------------------------------- threads

// The life of a thread as a bar: waits by kind, then the rest.
function lifeBar(m, t) {
  const life = Math.max(1, t.end - t.begin),
    bar = h("span", {class: "bar"});
  const kinds = Object.entries(t.waits)
    .map(([kind, w]) => [kind, waited(w)])
    .sort((a, b) => CALM.has(a[0]) - CALM.has(b[0]) || b[1] - a[1]);
  for (const [kind, ns] of kinds)
    bar.append(
      h("i", {
        class: CALM.has(kind) ? "calm" : "lock",
        style: {width: `${Math.min(100, (100 * ns) / life)}%`},
        title: `${kind}: ${duration(ns)}`,
      }),
    );
  return bar;
}

function waitWords(t) {
  return Object.entries(t.waits)
    .sort((a, b) => waited(b[1]) - waited(a[1]))
    .map(([kind, w]) => `${kind} ${duration(waited(w))} (${count(w[0] + w[3])})`)
    .join(", ");
}

function threadPanel(app) {
  const m = app.model,
    columns = [
      {title: "Thread", value: (t) => t.label, class: "name"},
      {title: "Life", value: (t) => t.end - t.begin, cell: (t) => duration(t.end - t.begin), number: true},
      {title: "Blocked", value: (t) => t.blocked, cell: (t) => duration(t.blocked), number: true},
      {
        title: "Share",
        value: (t) => t.blocked / Math.max(1, t.end - t.begin),
        cell: (t) => percent(t.blocked, t.end - t.begin),
        number: true,
      },
      {
        title: "Waiting: for locks / for events",
        value: (t) => t.blocked / Math.max(1, t.end - t.begin),
        cell: (t) => lifeBar(m, t),
        class: "wide",
      },
      {
        title: "Switches",
        value: (t) => t.switches[0] ?? -1,
        cell: (t) => counted(t.switches),
        number: true,
        hint: "context switches",
      },
      {title: "Waited for (times)", value: waitWords, class: "words"},
      ...m.counters.map((c, i) => ({
        title: c.name,
        hint: c.summary,
        number: true,
        value: (t) => t.counts[i]?.[0] ?? -1,
        cell: (t) => (t.counts[i] ? counted(t.counts[i], c) : "\u2013"),
      })),
    ];
  return panel(
    "Threads",
    table(columns, m.threads, {
      most: 20,
      onrow: (t) => app.show("timeline", {thread: t}),
      empty: "No thread was recorded.",
    }),
  );
}

// --------------------------------------------------------------------------------------------------- locks

function lockPanel(app, title, objects, empty) {
  const m = app.model,
    columns = [
      {
        title: "Object",
        value: (o) => o.title,
        cell: (o) => [h("i", {class: "dot", style: {background: o.colour}}), o.title],
        class: "name",
      },
      {title: "Waited in all", value: (o) => o.waited, cell: (o) => duration(o.waited), number: true},
      {
        title: "Waits",
        value: (o) => o.waits[0] + o.waits[3],
        cell: (o) => count(o.waits[0] + o.waits[3]) + (o.waits[3] ? ` (${o.waits[3]} never ended)` : ""),
        number: true,
      },
      {
        title: "Mean",
        value: (o) => o.waits[1] / Math.max(1, o.waits[0]),
        cell: (o) => (o.waits[0] ? duration(o.waits[1] / o.waits[0]) : "\u2013"),
        number: true,
      },
      {
        title: "Longest",
        value: (o) => o.waits[2],
        cell: (o) => (o.waits[0] ? duration(o.waits[2]) : "\u2013"),
        number: true,
      },
      {
        title: "Taken",
        value: (o) => o.acquisitions,
        cell: (o) => (o.countsExact || !o.acquisitions ? "" : "\u2265\u202f") + count(o.acquisitions),
        number: true,
      },
      {
        title: "Held",
        value: (o) => o.holdNs,
        cell: (o) => (o.holds ? duration(o.holdNs) + (o.holdsComplete ? "" : ` in ${count(o.holds)} known`) : "\u2013"),
        number: true,
      },
      {title: "Made at", value: (o) => m.siteText(o.init), class: "place"},
    ];
  return panel(
    title,
    table(columns, objects, {most: 12, empty, onrow: (o) => app.show("timeline", {object: o})}),
    objects
      .filter((o) => o.waited > 0)
      .slice(0, 3)
      .map((o) => lockPlaces(m, o)),
  );
}

// Where a lock was waited for and taken, and by whom.
function lockPlaces(m, o) {
  const places = o.sites.filter((s) => s.site && (waited(s.waits) || s.blockedNs)).slice(0, 6);
  const uses = o.uses.filter((u) => waited(u.waits) || u.blockedNs || u.holds).slice(0, 8);
  if (places.length + uses.length === 0) return null;
  return h(
    "details",
    {class: "places"},
    h("summary", null, h("i", {class: "dot", style: {background: o.colour}}), `${o.title}: where and who`),
    places.length > 0 &&
      table(
        [
          {title: "Place", value: (s) => m.siteText(s.site), class: "place"},
          {
            title: "Waited here",
            value: (s) => waited(s.waits),
            cell: (s) =>
              waited(s.waits) ? `${duration(waited(s.waits))} (${count(s.waits[0] + s.waits[3])})` : "\u2013",
            number: true,
          },
          {
            title: "Taken here, made others wait",
            value: (s) => s.blockedNs,
            cell: (s) => (s.blocked ? `${duration(s.blockedNs)} (${count(s.blocked)})` : "\u2013"),
            number: true,
          },
        ],
        places,
      ),
    uses.length > 0 &&
      table(
        [
          {title: "Thread", value: (u) => m.threads[u.thread].label, class: "name"},
          {title: "Taken", value: (u) => u.acquisitions, cell: (u) => count(u.acquisitions), number: true},
          {
            title: "Waited",
            value: (u) => waited(u.waits),
            cell: (u) =>
              waited(u.waits) ? `${duration(waited(u.waits))} (${count(u.waits[0] + u.waits[3])})` : "\u2013",
            number: true,
          },
          {
            title: "Held",
            value: (u) => u.holdNs,
            cell: (u) => (u.holds ? `${duration(u.holdNs)} (${count(u.holds)})` : "\u2013"),
            number: true,
          },
          {
            title: "Made others wait",
            value: (u) => u.blockedNs,
            cell: (u) => (u.blocked ? `${duration(u.blockedNs)} (${count(u.blocked)})` : "\u2013"),
            number: true,
          },
        ],
        uses,
      ),
  );
}

// ------------------------------------------------------------------------------------------ who for whom

function pairsPanel(app) {
  const m = app.model,
    pairs = m.pairs.filter(([, , , ns]) => ns > 0);
  if (pairs.length === 0) return null;
  const total = (i) => {
    const sum = new Map();
    for (const p of pairs) sum.set(p[i], (sum.get(p[i]) || 0) + p[3]);
    return sum;
  };
  const most = (sum) =>
    [...sum]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 24)
      .map(([t]) => t);
  const waiters = most(total(0)),
    holders = most(total(1)),
    by = new Map(pairs.map((p) => [`${p[0]}.${p[1]}`, p]));
  const worst = Math.max(...pairs.map((p) => p[3]));
  const cell = (w, holder) => {
    const p = by.get(`${w}.${holder}`);
    if (!p) return h("td", {class: w === holder ? "self" : ""});
    return h(
      "td",
      {
        class: "heat",
        title: `${m.threads[w].label} waited ${duration(p[3])} (${p[2]}) for ${m.threads[holder].label}`,
        style: {"--heat": (0.12 + 0.88 * Math.sqrt(p[3] / worst)).toFixed(3)},
      },
      h("b", null, duration(p[3])),
      h("small", null, `${count(p[2])}\u00d7`),
    );
  };
  const left = new Set(pairs.flatMap((p) => [p[0], p[1]])).size > new Set([...waiters, ...holders]).size;
  return panel(
    "Who waited for whom",
    h(
      "div",
      {class: "matrix"},
      h(
        "table",
        null,
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", {class: "corner"}, "waited \u2193 for \u2192"),
            holders.map((t) => h("th", {scope: "col"}, h("span", null, m.threads[t].label))),
          ),
        ),
        h(
          "tbody",
          null,
          waiters.map((w) =>
            h(
              "tr",
              null,
              h("th", {scope: "row"}, m.threads[w].label),
              holders.map((holder) => cell(w, holder)),
            ),
          ),
        ),
      ),
    ),
    h(
      "p",
      {class: "note"},
      "By the thread that held the lock when the wait began, where the recording tells.",
      left ? " The 24 of each that matter most." : "",
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
    "Conditions of this recording",
    m.processes.map((p) =>
      h(
        "dl",
        {class: "facts"},
        fact("Command", h("code", null, tidy(p.command, 300))),
        fact("Process", `${p.pid} on ${tidy(p.host, 60)}`),
        fact("Kernel", tidy(p.kernel, 80)),
        fact("Began", new Date(Number(BigInt(p.start) / 1000000n)).toLocaleString()),
        fact(
          "Clock",
          p.hz
            ? `${(p.hz / 1e6).toFixed(2)} MHz, ${p.clockError === null ? "its error is not known" : `within ${duration(p.clockError)} of CLOCK_MONOTONIC_RAW`}`
            : "\u2013",
        ),
        fact("Records", `${count(p.records)}, ${count(p.lost)} lost`, p.lost > 0),
        p.overwritten
          ? fact("Overwritten", `${count(p.overwritten)} older events made room for later ones`, true)
          : null,
        fact("End", p.complete ? "in good order" : "it was killed, or still running", !p.complete),
      ),
    ),
    h(
      "dl",
      {class: "facts"},
      fact(
        "Own cost",
        m.ownCost === null
          ? "not recorded"
          : `about ${duration(m.ownCost)} for the events about locks and threads, ${percent(m.ownCost, m.lifetime)} of the threads' lives`,
      ),
      fact(
        "Events",
        `${count(m.events)}${m.unknown ? `, ${count(m.unknown)} of unknown kinds` : ""}${m.unmatched ? `, ${count(m.unmatched)} begins or ends without the other` : ""}${m.unfinished ? `, ${plural(m.unfinished, "wait")} that never ended` : ""}`,
        m.unmatched > 0,
      ),
      m.leftOut ? fact("Left out", `${count(m.leftOut)} regions and waits nested deeper than 512`, true) : null,
      merged.length
        ? fact(
            "Drawn together",
            `the timeline draws ${merged.map(([what, ns]) => `${what} shorter than ${duration(ns)}`).join(", ")} as one where they are close; tables and sums have them all`,
          )
        : null,
      m.damages.map((text) => fact("Damaged", tidy(text, 400), true)),
      fact("Page", `made by libupmu ${m.version}`),
    ),
  );
}

function showOverview(app) {
  const m = app.model,
    locks = m.objects.filter((o) => !o.calm),
    events = m.objects.filter((o) => o.calm && o.waited > 0);
  fill(byId("overview"), [
    cards(m),
    contentionPanel(app),
    threadPanel(app),
    lockPanel(app, "Locks", locks, "No lock was recorded."),
    events.length ? lockPanel(app, "Condition variables, semaphores, barriers, joins", events, "") : null,
    pairsPanel(app),
    conditionsPanel(m),
  ]);
}
