// SPDX-License-Identifier: MIT
// Deadlocks as a graph of waiting threads with their call stacks, and lock-order cycles.

const DEADLOCK_WORDS = {
  cycle: tr("Threads wait for each other's locks"),
  self: tr("A thread waits for a lock that it holds itself"),
  "owner-ended": tr("The holder of the lock has ended"),
  "join-cycle": tr("Threads wait for each other's ends"),
  "join-self": tr("A thread waits for its own end"),
  "no-post": tr("No thread can post the semaphore"),
  "no-signal": tr("No thread can signal the condition variable"),
  "barrier-short": tr("No thread can arrive at the barrier"),
  "no-wake": tr("No thread can wake the futex"),
  "all-asleep": tr("All threads are asleep, and no known event could wake one"),
  "cross-process": tr("Threads of several processes wait for each other"),
};
const CLASS_WORDS = {
  inversion: tr("Threads could deadlock"),
  gated: tr("Kept apart by a lock that they share"),
  "one-thread": tr("One thread alone acquired the locks in both orders"),
  ordered: tr("One was over before the other began"),
  broken: tr("One of them only tries, or waits for a limited time"),
};

// ------------------------------------------------------------------------------------------------- the graph

const GRAPH_WIDTH = 760,
  LADDER_FROM = 7,
  LADDER_STEP = 84,
  NARROW_WIDTH = 380,
  NARROW_STEP = 92,
  NARROW_SIDE = 345; // of edges to an earlier node, right of all boxes

// Where nodes are: few on an ellipse, many down one side and up the other; in one column if the window is narrow.
function places(n, narrow) {
  if (narrow) return {height: n * NARROW_STEP - 16, at: (i) => ({x: 150, y: 36 + i * NARROW_STEP})};
  if (n < LADDER_FROM) {
    const height = n <= 4 ? 300 : 480;
    return {
      height,
      at: (i) => {
        const angle = Math.PI * ((2 * i) / n - (n <= 2 ? 1 : 0.5));
        return {
          x: GRAPH_WIDTH / 2 + Math.cos(angle) * (GRAPH_WIDTH / 2 - 130),
          y: height / 2 + Math.sin(angle) * (height / 2 - 46),
        };
      },
    };
  }
  const rows = Math.ceil(n / 2);
  return {
    height: rows * LADDER_STEP + 20,
    at: (i) => ({x: i < rows ? GRAPH_WIDTH - 190 : 190, y: 44 + (i < rows ? i : 2 * rows - 1 - i) * LADDER_STEP}),
  };
}

// Nodes in their order, round; edges between them. A window that becomes narrow has it drawn again.
function ring(nodes, edges, choose) {
  const narrow = matchMedia("(max-width: 700px)"),
    place = h("div", {class: "graph-place"}),
    show = () => place.replaceChildren(drawRing(nodes, edges, choose, narrow.matches));
  narrow.addEventListener("change", show);
  show();
  return place;
}

function drawRing(nodes, edges, choose, narrow) {
  const width = narrow ? NARROW_WIDTH : GRAPH_WIDTH,
    {height, at: place} = places(nodes.length, narrow),
    cx = width / 2,
    cy = height / 2,
    at = nodes.map((_, i) => place(i));
  const graph = svg(
    "svg",
    {viewBox: `0 0 ${width} ${height}`, class: "graph", role: "group", "aria-label": tr("Wait-for graph")},
    svg(
      "defs",
      null,
      ["wait", "hold"].map((kind) =>
        svg(
          "marker",
          {
            id: `arrow-${kind}`,
            viewBox: "0 0 10 10",
            refX: 9,
            refY: 5,
            markerWidth: 7,
            markerHeight: 7,
            orient: "auto-start-reverse",
          },
          svg("path", {d: "M0 0L10 5L0 10z", class: `head ${kind}`}),
        ),
      ),
    ),
  );
  for (const edge of edges) {
    const route = narrow ? narrowRoute(edge, at, nodes) : wideRoute(edge, at[edge.from], at[edge.to], nodes, {cx, cy});
    graph.append(edgeOf(edge, nodes, route, choose));
  }
  nodes.forEach((node, i) => graph.append(nodeOf(node, at[i], choose)));
  return graph;
}

function nodeBox(node) {
  const lines = [node.title, ...(node.note ? [node.note] : [])];
  return {
    lines,
    width: Math.max(96, 28 + 8.2 * Math.max(...lines.map((l) => Math.min(l.length, 27)))),
    height: lines.length > 1 ? 46 : 32,
  };
}

function shorten(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
}

function nodeOf(node, p, choose) {
  const {lines, width, height} = nodeBox(node),
    go = (e) => {
      if (e.type === "click" || e.key === "Enter" || e.key === " ") {
        e.preventDefault();
        choose(node);
      }
    };
  return svg(
    "g",
    {
      class: `node ${node.kind}`,
      tabindex: "0",
      role: "button",
      transform: `translate(${p.x} ${p.y})`,
      onclick: go,
      onkeydown: go,
    },
    svg("rect", {x: -width / 2, y: -height / 2, width, height, rx: node.kind === "thread" ? 8 : height / 2}),
    svg("title", null, tr("%1: show call stacks", lines.join(", "))),
    lines.map((line, i) =>
      svg("text", {y: (i - (lines.length - 1) / 2) * 17 + 4.5, class: i > 0 ? "small" : null}, shorten(line, 27)),
    ),
  );
}

// Where the line from the middle of a box towards a point leaves it.
function borderOf(node, p, towards) {
  const {width, height} = nodeBox(node),
    dx = towards.x - p.x,
    dy = towards.y - p.y,
    share = Math.min(
      1,
      (width / 2 + 5) / Math.max(1e-6, Math.abs(dx)),
      (height / 2 + 5) / Math.max(1e-6, Math.abs(dy)),
    );
  return {x: p.x + dx * share, y: p.y + dy * share};
}

// The way of an edge from p to q, bent towards `middle`, and where its label is.
function wideRoute(edge, a, b, nodes, {cx, cy}) {
  const mx = (a.x + b.x) / 2,
    my = (a.y + b.y) / 2,
    upright = Math.abs(a.x - b.x) < 1,
    out = Math.hypot(mx - cx, my - cy) || 1;
  let middle = {x: mx + ((mx - cx) / out) * 22, y: my + ((my - cy) / out) * 22};
  if (edge.bend) middle = {x: mx, y: my + edge.bend};
  else if (upright) middle = {x: mx, y: my};
  const p = borderOf(nodes[edge.from], a, middle),
    q = borderOf(nodes[edge.to], b, middle);
  return {
    p,
    middle,
    q,
    label: {
      x: (p.x + 2 * middle.x + q.x) / 4 + (upright ? 12 : 0),
      y: (p.y + 2 * middle.y + q.y) / 4 + 4,
      class: upright ? "beside" : null,
    },
  };
}

// Down to the next node, or round all of them on the right; the label is between two nodes.
function narrowRoute(edge, at, nodes) {
  const a = at[edge.from],
    b = at[edge.to],
    y = (a.y + b.y) / 2;
  if (edge.to === edge.from + 1) {
    const middle = {x: a.x, y};
    return {
      p: borderOf(nodes[edge.from], a, middle),
      middle,
      q: borderOf(nodes[edge.to], b, middle),
      label: {x: a.x + 12, y: y + 4, class: "beside"},
    };
  }
  const p = {x: a.x + nodeBox(nodes[edge.from]).width / 2 + 2, y: a.y},
    q = {x: b.x + nodeBox(nodes[edge.to]).width / 2 + 5, y: b.y},
    onNode = (edge.from + edge.to) % 2 === 0;
  return {
    p,
    middle: {x: 2 * NARROW_SIDE - (p.x + q.x) / 2, y},
    q,
    label: {x: NARROW_WIDTH - 8, y: y + 4 - (onNode ? NARROW_STEP / 2 : 0), class: "before"},
  };
}

function edgeOf(edge, nodes, {p, middle, q, label}, choose) {
  const go = (e) => {
    if (e.type === "click" || e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      choose(edge.node);
    }
  };
  return svg(
    "g",
    {
      class: `edge ${edge.kind}`,
      tabindex: "0",
      role: "button",
      "aria-label": tr("%1: show call stacks", `${nodes[edge.from].title} ${edge.label} ${nodes[edge.to].title}`),
      onclick: go,
      onkeydown: go,
    },
    svg("path", {d: `M${p.x} ${p.y}Q${middle.x} ${middle.y} ${q.x} ${q.y}`, class: "grip"}),
    svg("path", {
      d: `M${p.x} ${p.y}Q${middle.x} ${middle.y} ${q.x} ${q.y}`,
      class: "line",
      "marker-end": `url(#arrow-${edge.kind})`,
    }),
    svg("text", label, edge.label),
  );
}

// --------------------------------------------------------------------------------------------- blocked threads

function lockTitle(m, process, address, fallback) {
  const o = m.byAddress.get(`${process}.${address}`);
  return o ? o.title : address ? `${fallback || tr("lock")} ${address}` : fallback || "?";
}

function threadTitle(m, process, t) {
  const known = m.byTid.get(`${process}.${t.tid}`);
  return known ? known.label : tidy(t.name ? `${t.name} ${t.tid}` : tr("thread %1", t.tid), 60);
}

// What a thread waits for: of a join the thread, whose end need not be an object of the recording yet.
function waitPhrase(m, process, t) {
  if (t.kind !== "join" || !t.holder) return tr("waits for %1", lockTitle(m, process, t.object, t.kind));
  return tr("waits for the end of %1", threadTitle(m, process, {tid: t.holder, name: ""}));
}

// The lock that blocks a thread; of a condition variable's wait the mutex to be reacquired, if it is held.
function inTheWay(t) {
  return t.kind === "cond" && t.holder ? {lock: t.mutex, kind: "mutex"} : {lock: t.object, kind: t.kind};
}

// Each thread, then what it waits for; held by the next one or by no thread.
function itemGraph(m, item, choose) {
  const caught = item.threads.slice(0, item.caught),
    nodes = [],
    edges = [];
  caught.forEach((t, i) => {
    const held = caught[(i + 1) % caught.length],
      join = t.kind === "join",
      {lock, kind} = inTheWay(t),
      thread = nodes.length;
    nodes.push({
      kind: "thread",
      title: threadTitle(m, item.process, t),
      note: t.since === null ? "" : tr("waits since %1", duration(t.since)),
      thread: t,
    });
    if (join) return;
    nodes.push({
      kind: "lock",
      title: lockTitle(m, item.process, lock, kind),
      thread: t,
      holder: held.tid === t.holder ? held : null,
    });
    edges.push({
      from: thread,
      to: thread + 1,
      kind: "wait",
      label: t.shared ? tr("waits to read") : kind === t.kind ? tr("waits for") : tr("takes again"),
      node: nodes[thread + 1],
    });
  });
  const firsts = nodes
    .map((n, i) => [n, i])
    .filter(([n]) => n.kind === "thread")
    .map(([, i]) => i);
  firsts.forEach((from, k) => {
    const t = nodes[from].thread,
      next = firsts[(k + 1) % firsts.length],
      last = t.kind === "join" ? from : from + 1,
      holder = nodes[next].thread;
    if (t.holder !== holder.tid) return;
    edges.push({
      from: last,
      to: next,
      kind: t.kind === "join" ? "wait" : "hold",
      label: t.kind === "join" ? tr("waits for the end of") : tr("held by"),
      node: nodes[last],
      bend: nodes.length === 2 ? 70 : 0,
    });
  });
  if (nodes.length === 2 && edges.length > 1) edges[0].bend = -70;
  if (item.kind === "owner-ended") {
    nodes.push({
      kind: "thread gone",
      title: tidy(item.ownerName ? `${item.ownerName} ${item.owner}` : tr("thread %1", item.owner), 60),
      note: tr("has ended"),
      site: item.ownerSite,
    });
    caught.forEach((_, i) =>
      edges.push({
        from: 2 * i + 1,
        to: nodes.length - 1,
        kind: "hold",
        label: tr("held by"),
        node: nodes[nodes.length - 1],
      }),
    );
  }
  return ring(nodes, edges, choose);
}

// Both stacks: of the waiting thread, and of the acquisition that it waits for.
function stacksOf(m, item, node) {
  if (node.site !== undefined && !node.thread)
    return [h("h3", null, tr("%1 acquired the lock at", node.title)), stackList(m, 0, node.site)];
  const t = node.thread,
    holder = node.holder || item.threads.find((x) => x.tid === t.holder);
  const held = holder && holder.held.find((x) => x.lock === inTheWay(t).lock);
  return [
    h("h3", null, threadTitle(m, item.process, t), " ", waitPhrase(m, item.process, t)),
    facts([
      [tr("Since"), t.since === null ? tr("not recorded") : exact(t.since)],
      [tr("Limit"), t.timed ? tr("it waits for a limited time") : ""],
      [tr("Gave up for it"), t.mutex ? lockTitle(m, item.process, t.mutex, "mutex") : ""],
    ]),
    stackList(m, t.stack, t.site),
    holder && t.kind !== "join"
      ? [
          h("h3", null, tr(t.kind === "cond" ? "%1 holds its mutex" : "%1 holds it", threadTitle(m, item.process, holder))),
          facts([[tr("Since"), held && held.since !== null ? exact(held.since) : tr("before the wait began")]]),
          stackList(m, held ? held.stack : 0, held ? held.site : 0),
        ]
      : null,
    t.held.length
      ? [
          h("h3", null, tr("%1 holds", threadTitle(m, item.process, t))),
          h(
            "ul",
            {class: "plain"},
            t.held.map((x) =>
              h(
                "li",
                null,
                h("b", null, lockTitle(m, item.process, x.lock)),
                x.wanted ? h("span", {class: "tag bad"}, tr("wanted")) : null,
                h("small", null, " ", sitePhrase(m, "acquired at %1", m.userSite(x.site, x.stack))),
              ),
            ),
          ),
          t.forgotten ? h("p", {class: "note"}, tr("and %1 more that were not kept", count(t.forgotten))) : null,
        ]
      : null,
  ];
}

function itemPanel(m, item) {
  const side = h("div", {class: "stacks", "aria-live": "polite"}),
    choose = (node) => replace(side, stacksOf(m, item, node));
  const behind = item.threads.slice(item.caught),
    certain = item.certainty === "certain";
  if (item.threads.length) choose({kind: "thread", thread: item.threads[0]});
  return h(
    "section",
    {class: certain ? "panel deadly" : "panel"},
    h(
      "h2",
      null,
      h("span", {class: certain ? "tag bad" : "tag"}, tr(item.certainty)),
      DEADLOCK_WORDS[item.kind] || item.kind,
    ),
    h(
      "p",
      {class: "dim"},
      tr(
        item.alive ? "%1 of process %2, while it was running" : "%1 of process %2, when the recording ended",
        plural(item.caught, "thread"),
        item.pid,
      ),
      item.couldEnd ? tr("; could be ended by %1", tidy(item.couldEnd, 300)) : "",
    ),
    h("div", {class: "split-graph"}, itemGraph(m, item, choose), side),
    behind.length
      ? [
          h("h3", null, tr("Behind them")),
          h(
            "ul",
            {class: "plain"},
            behind.map((t) =>
              h(
                "li",
                null,
                h("b", null, threadTitle(m, item.process, t)),
                " ",
                waitPhrase(m, item.process, t),
                h("small", null, " ", sitePhrase(m, "at %1", m.userSite(t.site, t.stack))),
              ),
            ),
          ),
        ]
      : null,
  );
}

// ------------------------------------------------------------------------------------------ orders of locks

function cyclePanel(m, cycle) {
  const nodes = [],
    edges = [],
    side = h("div", {class: "stacks", "aria-live": "polite"});
  const choose = (node) => replace(side, takingStacks(m, node.acquisition));
  cycle.acquisitions.forEach((t) => nodes.push({kind: "lock", title: lockTitle(m, t.process, t.held), acquisition: t}));
  cycle.acquisitions.forEach((t, i) => {
    const thread = m.byTid.get(`${t.process}.${t.tid}`);
    edges.push({
      from: i,
      to: (i + 1) % cycle.acquisitions.length, // which holds it: in another process perhaps at another address
      kind: "hold",
      label: thread ? thread.label : tr("thread %1", t.tid),
      node: nodes[i],
      bend: nodes.length === 2 ? (i ? 74 : -74) : 0,
    });
  });
  if (cycle.acquisitions.length) choose(nodes[0]);
  return h(
    "section",
    {class: cycle.class === "inversion" ? "panel warned" : "panel"},
    h(
      "h2",
      null,
      h("span", {class: cycle.class === "inversion" ? "tag warn" : "tag"}, tr(cycle.class)),
      CLASS_WORDS[cycle.class] || cycle.class,
    ),
    h(
      "p",
      {class: "dim"},
      tr("An arrow leads from a lock that was held to the one that was then acquired."),
      cycle.similar ? tr(" %1 more of other locks at the same call sites.", count(cycle.similar)) : "",
    ),
    h(
      "div",
      {class: "split-graph"},
      ring(nodes, edges, choose),
      side,
    ),
  );
}

function takingStacks(m, t) {
  const thread = m.byTid.get(`${t.process}.${t.tid}`);
  return [
    h("h3", null, tr("%1 took %2", thread ? thread.label : tr("thread %1", t.tid), lockTitle(m, t.process, t.lock))),
    facts([
      [tr("At"), t.time === null ? "" : exact(t.time)],
      [tr("How"), t.tried ? tr("by a call that does not wait") : t.timed ? tr("for a limited time") : ""],
    ]),
    stackList(m, t.stack, 0),
    h("h3", null, tr("while it held %1, acquired at", lockTitle(m, t.process, t.held))),
    stackList(m, t.heldStack, t.heldSite),
  ];
}

function showDeadlock(app) {
  const m = app.model,
    d = m.deadlocks,
    place = byId("deadlock");
  if (d.problem) {
    fill(place, [h("p", {class: "notice bad"}, tr("Deadlocks cannot be shown: %1", tidy(d.problem, 400)))]);
    return;
  }
  const whole = isWhole(m);
  const notes = [
    d.without ? tr("Of %1 it was not recorded what their threads wait for.", plural(d.without, "process", "processes")) : "",
    d.incomplete ? tr("%1 nested acquisitions were recorded incompletely and are left out.", count(d.incomplete)) : "",
    d.cut ? tr("There may be more contradicting orders: the search was ended.") : "",
  ].filter(Boolean);
  const worst = d.cycles.filter((c) => c.class === "inversion").length;
  fill(place, [
    d.items.length === 0
      ? h(
          "section",
          {class: "panel calm-panel"},
          h("h2", null, whole ? tr("No thread is deadlocked") : tr("No deadlock was found")),
          h(
            "p",
            null,
            d.cycles.length === 0
              ? d.acquisitions
                ? tr("%1 a lock was acquired while others were held, and no two orders contradict each other.", plural(d.acquisitions, "time"))
                : tr("No lock was acquired while another was held, so there are no orders that could contradict each other.")
              : tr("%1 of locks could come to a deadlock, %2 more cannot, for the reasons below.", plural(worst, "order"), count(d.cycles.length - worst)),
          ),
        )
      : null,
    d.items.map((item) => itemPanel(m, item)),
    d.cycles.map((c) => cyclePanel(m, c)),
    notes.map((n) => h("p", {class: "note"}, n)),
  ]);
}
