// SPDX-License-Identifier: MIT
// Flame graph on canvas.
// A node: {name, note, ns (including children), own, count, wait, children}.

const FLAME_ROW = 20,
  NO_LOCK = tr("no wait");

class Flame {
  // options: {up: bottom-up, color(node, dark): of a box, words(node): its numbers}
  constructor(place, root, app, options = {}) {
    this.root = this.top = root;
    this.options = options;
    this.app = app;
    this.words = "";
    this.path = h("div", {class: "crumbs"});
    this.box = h("div", {class: "flame"});
    this.tip = h("div", {class: "tip", hidden: true});
    place.append(this.path, this.box, this.tip);
    this.screen = canvasIn(this.box, (c, w, hh) => this.draw(c, w, hh), {
      tabindex: "0",
      role: "application",
      "aria-label":
        tr("Flame graph. Arrow keys go from box to box, Enter zooms, Escape goes back; the table below has the numbers."),
    });
    this.listen();
    this.zoomTo(root);
    app.onTheme(() => this.screen.ask());
  }

  zoomTo(node) {
    this.top = node;
    this.chosen = node;
    const above_it = [];
    for (let n = node; n; n = n.parent) above_it.unshift(n);
    this.path.replaceChildren(
      ...above_it.map((n, i) =>
        i + 1 < above_it.length
          ? button(tidy(n.name, 40), () => this.zoomTo(n), {class: "crumb"})
          : h("b", null, `${tidy(n.name, 60)} \u00b7 ${duration(n.ns)}`),
      ),
    );
    this.box.style.height = `${Math.min(40, deepest(node) + 1) * FLAME_ROW + 2}px`;
    this.screen.ask();
  }

  search(words) {
    this.words = words.trim().toLowerCase();
    this.screen.ask();
    let ns = 0;
    const visit = (n, inside) => {
      const hit = !inside && this.matches(n);
      if (hit) ns += n.ns;
      for (const child of n.children) visit(child, inside || hit);
    };
    if (this.words) visit(this.root, false);
    return this.words ? ns : null;
  }

  matches(n) {
    return this.words !== "" && n.name.toLowerCase().includes(this.words);
  }

  draw(c, width, height) {
    const t = theme();
    this.boxes = [];
    c.fillStyle = t.panel;
    c.fillRect(0, 0, width, height);
    c.font = `11px ${t.font}`;
    c.textBaseline = "middle";
    const scale = width / Math.max(1, this.top.ns),
      line = [[this.top, 0, 0]];
    while (line.length) {
      const [n, x, depth] = line.pop(),
        wide = n.ns * scale;
      if (wide < 0.4 || depth * FLAME_ROW > height) continue;
      this.box_of(c, t, n, x, depth * FLAME_ROW, wide);
      let at = x;
      for (const child of n.children) {
        line.push([child, at, depth + 1]);
        at += child.ns * scale;
      }
    }
  }

  box_of(c, t, n, x, y, wide) {
    const dim = this.words !== "" && !this.matches(n);
    this.boxes.push({n, x, y, wide});
    c.globalAlpha = dim ? 0.28 : 1;
    c.fillStyle = n.parent ? (this.options.color || flameColor)(n, t.dark) : t.shade;
    c.fillRect(x, y, Math.max(0.5, wide - 0.7), FLAME_ROW - 1);
    if (n === this.chosen && n !== this.top) {
      c.strokeStyle = t.ink;
      c.lineWidth = 1.5;
      c.strokeRect(x + 0.75, y + 0.75, Math.max(1, wide - 2), FLAME_ROW - 2.5);
    }
    c.fillStyle = t.ink;
    const text = fitted(c, n.name, wide - 10);
    if (text) c.fillText(text, x + 5, y + FLAME_ROW / 2);
    c.globalAlpha = 1;
  }

  at(e) {
    return (
      (this.boxes || []).find(
        (b) => e.offsetX >= b.x && e.offsetX < b.x + b.wide && e.offsetY >= b.y && e.offsetY < b.y + FLAME_ROW,
      ) || null
    );
  }

  listen() {
    const canvas = this.screen.canvas;
    canvas.addEventListener("click", (e) => {
      const b = this.at(e);
      if (b) this.zoomTo(b.n === this.top && b.n.parent ? b.n.parent : b.n);
    });
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
    canvas.addEventListener("pointermove", (e) => {
      const b = this.at(e);
      this.tip.hidden = !b;
      canvas.style.cursor = b ? "pointer" : "default";
      if (!b) return;
      this.tip.replaceChildren(
        h("b", null, tidy(b.n.name, 200)),
        h("div", {class: "dim"}, b.n.note || ""),
        h("div", null, this.words_of(b.n)),
      );
      this.tip.style.left = `${Math.min(e.clientX + 14, window.innerWidth - 320)}px`;
      this.tip.style.top = `${Math.min(e.clientY + 18, window.innerHeight - 90)}px`;
    });
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  words_of(n) {
    if (this.options.words) return this.options.words(n);
    const own = this.options.up ? "" : tr("; own %1", duration(n.own));
    return `${tr("%1, %2 of all", duration(n.ns), percent(n.ns, this.root.ns))}${own}${n.count ? `; ${count(n.count)}\u00d7` : ""}`;
  }

  key(e) {
    const n = this.chosen,
      near = n.parent ? n.parent.children : [n],
      i = near.indexOf(n);
    const to = {ArrowDown: n.children[0], ArrowUp: n.parent, ArrowLeft: near[i - 1], ArrowRight: near[i + 1]}[e.key];
    if (e.key === "Enter") this.zoomTo(n);
    else if (e.key === "Escape") this.zoomTo(this.root);
    else if (to) {
      this.chosen = to;
      this.path.lastChild.textContent = `${tidy(to.name, 60)} \u00b7 ${this.words_of(to)}`;
      this.screen.ask();
    } else return;
    e.preventDefault();
  }
}

function flameColor(n, dark) {
  const hash = textHash(n.name);
  if (n.rest) return dark ? "hsl(0 0% 34%)" : "hsl(0 0% 82%)";
  if (n.lock) return `hsl(${326 + (hash % 16)} ${dark ? "38% 36%" : "60% 82%"})`;
  if (n.wait) return `hsl(${205 + (hash % 24)} ${dark ? "38% 34%" : "64% 80%"})`;
  return `hsl(${14 + (hash % 38)} ${dark ? "42% 33%" : "82% 80%"})`;
}

function deepest(root) {
  let most = 0;
  const line = [[root, 0]];
  while (line.length) {
    const [n, depth] = line.pop();
    most = Math.max(most, depth);
    for (const child of n.children) line.push([child, depth + 1]);
  }
  return most;
}

function flameNode(name, parent, more) {
  const node = {name, parent, ns: 0, own: 0, other: 0, count: 0, children: [], ...more};
  if (parent) parent.children.push(node);
  return node;
}

// Adds what is below to each node, and puts the largest first.
function addBelow(root) {
  const all = [root];
  for (let i = 0; i < all.length; i++) all.push(...all[i].children);
  for (const n of all.reverse()) {
    n.ns = n.own + n.children.reduce((sum, child) => sum + child.ns, 0);
    n.other += n.children.reduce((sum, child) => sum + child.other, 0);
    n.children.sort((a, b) => b.ns - a.ns);
  }
  return root;
}

// The innermost box of a wait.
function waitFor(title) {
  return tr("wait for %1", title);
}

// A path is what a flame graph is built of: {frames: [{name, note, wait}, ...] the outermost first, thread, lock, ns, count},
// and `other`, its time in another recording.

// Wall time by thread and region, the waits in a region innermost.
function regionPaths(m) {
  const paths = [];
  m.tree.forEach(([parent, label, wait, times_, ns], i) => {
    if (i === 0) return;
    const name = wait === 1 ? label.replace(/^wait for (.*)$/, (_, title) => waitFor(title)) : label;
    const outer = paths[parent];
    // A thread's life is no box of its own: it is the thread.
    if (name === "(thread)") {
      if (outer) outer.ns += ns;
      paths[i] = outer;
      return;
    }
    paths[i] = outer
      ? {frames: [...outer.frames, {name: tidy(name, 200), wait: wait === 1}], thread: outer.thread, lock: wait === 1 ? tidy(name, 200) : NO_LOCK, ns, count: times_}
      : {frames: [], thread: tidy(name, 200), lock: NO_LOCK, ns, count: times_};
  });
  return [...new Set(paths)].filter(Boolean);
}

// Blocked time by thread and call stack, what was waited for innermost.
function waitPaths(m) {
  const known = new Map(),
    frameOf = (f) => ({
      name: tidy(f.name, 200),
      note:
        (f.file ? `${tidy(baseName(f.file), 100)}:${f.line}` : tidy(baseName(f.module), 100)) +
        (f.remark ? `, ${f.remark}` : ""),
    });
  return m.blocked.map(([thread, stack, site, object, count_, ns]) => {
    const frames = entry(known, stack ? `s${stack}` : `p${site}`, () =>
        (stack ? m.stackFrames(stack) : m.siteFrames(site)).map(frameOf).reverse(),
      ),
      lock = m.objects[object].title;
    const wait = {name: waitFor(lock), wait: true, lock: !m.objects[object].calm};
    return {frames: [...frames, wait], thread: m.threads[thread].label, lock, ns, count: count_};
  });
}

// Whether a thread waits at a moment, by the spans of its waits.
function isWaiting(m, thread, ns) {
  const w = m.tables.waits;
  return thread.waitRows.some((row) => {
    const i = above(w.begin, ns, row.from, row.to) - 1;
    return i >= row.from && w.idle[i] === 0 && ns < w.begin[i] + w.ns[i];
  });
}

// CPU time by thread and call stack, of samples; `outside`: only of those in no wait.
function samplePaths(m, outside = false) {
  const known = new Map(),
    framesOf = (path) =>
      sampledPath(m, path)
        .map((number) => ({name: tidy(sampledName(m, number), 200)}))
        .reverse();
  return m.threads.flatMap((t) => {
    const sums = new Map(),
      s = t.samples;
    for (let i = 0; s && i < s.ns.length; i++) {
      if (outside && isWaiting(m, t, s.ns[i])) continue;
      const sum = entry(sums, s.path[i], () => ({ns: 0, count: 0}));
      sum.ns += s.weight[i] * m.samples.every;
      sum.count += m.samples.every;
    }
    return [...sums].map(([path, sum]) => ({frames: entry(known, path, () => framesOf(path)), thread: t.label, lock: NO_LOCK, ...sum}));
  });
}

// What calls main() and the functions of threads; stacks of samples begin below it.
const THREAD_START = /^(_start|__libc_start_|start_thread|(__)?clone)/;

// Wall time of each thread: samples, waits, and the rest of its life.
function wallPaths(m) {
  const belowStart = (p) => ({...p, frames: p.frames.slice(Math.max(0, p.frames.findIndex((f) => !THREAD_START.test(f.name))))}),
    paths = [...samplePaths(m, true), ...waitPaths(m)].map(belowStart),
    rests = new Map();
  for (const t of m.threads) rests.set(t.label, (rests.get(t.label) || 0) + t.life);
  for (const p of paths) rests.set(p.thread, (rests.get(p.thread) || 0) - p.ns);
  for (const [thread, ns] of rests)
    if (ns > 0) paths.push({frames: [{name: tr("preempted, or in a wait that is not recorded"), rest: true}], thread, lock: NO_LOCK, ns, count: 1});
  return paths;
}

// The tree of a flame graph: top-down or bottom-up, of all threads together, or by thread, or by lock.
function flameTree(paths, {split = "", up = false} = {}) {
  const root = flameNode(tr("all threads"), null, {}),
    known = new Map();
  const child = (parent, {name, ...more}) => {
    const key = `${parent.id || 0}\n${name}`;
    return entry(known, key, () => flameNode(name, parent, {id: known.size + 1, ...more}));
  };
  for (const p of paths) {
    if (up && p.ns === 0 && !p.other) continue;
    let node = split ? child(root, {name: p[split], wait: split === "lock" && p.lock !== NO_LOCK}) : root;
    const inner = p.frames.length - (split === "lock" && p.frames.length > 0 && p.frames[p.frames.length - 1].wait ? 1 : 0);
    for (let k = 0; k < inner; k++) {
      node = child(node, p.frames[up ? inner - 1 - k : k]);
      if (up && k === 0) node.count += p.count;
    }
    node.own += p.ns;
    node.other += p.other || 0;
    if (!up) node.count += p.count;
  }
  return addBelow(root);
}
