// SPDX-License-Identifier: MIT
// Samples: what each thread executed, as a strip in its lane and by function for a stretch of its time.

const SAMPLES_PIXELS = 4, // least width of a group of samples
  SAMPLES_LOOKED_AT = 16, // in each group, for its color
  SAMPLED_SHOWN = 8;

// Gives each sampled thread its samples: {ns, weight, path}, in time order.
function placeSamples(model, data) {
  const {rows, ns, weight, path} = data.sampleColumns;
  for (let i = 0, from = 0; i < rows.length; i += 2) {
    const to = from + rows[i + 1];
    for (let k = from + 1; k < to; k++) ns[k] += ns[k - 1];
    model.threads[rows[i]].samples = {ns: ns.subarray(from, to), weight: weight.subarray(from, to), path: path.subarray(from, to)};
    from = to;
  }
}

function sampledFunction(m, path) {
  return path ? m.samples.paths[path - 1][1] : -1;
}

function sampledName(m, number) {
  return number < 0 ? tr("not known") : m.samples.functions[number][0];
}

// Functions of a call path, the innermost first.
function sampledPath(m, path) {
  const names = [];
  for (let at = path; at; at = m.samples.paths[at - 1][0]) names.push(sampledFunction(m, at));
  return names;
}

// The samples of a thread from one moment to another, by function: {n, weight, by: [{number, n, path}]}, the most frequent first.
function sampledBetween(m, thread, from, to, sums = {n: 0, weight: 0, by: new Map()}) {
  const s = thread.samples;
  if (!s) return sums;
  for (let i = above(s.ns, from - 0.5, 0, s.ns.length); i < s.ns.length && s.ns[i] <= to; i++) {
    const number = sampledFunction(m, s.path[i]),
      one = entry(sums.by, number, () => ({number, n: 0, paths: new Map()}));
    one.n++;
    one.paths.set(s.path[i], (one.paths.get(s.path[i]) || 0) + 1);
    sums.n++;
    sums.weight += s.weight[i];
  }
  return sums;
}

function mostOften(counts) {
  let best = null;
  for (const [key, n] of counts) if (!best || n > best[1]) best = [key, n];
  return best && best[0];
}

// A table of the functions, with the callers of the most frequent path of each; null without samples.
function sampledTable(m, sums) {
  if (sums.n === 0) return null;
  const rows = [...sums.by.values()].sort((a, b) => b.n - a.n),
    callers = (r) =>
      sampledPath(m, mostOften(r.paths))
        .slice(1, 4)
        .map((number) => tidy(sampledName(m, number), 60))
        .join(" \u2190 ");
  return [
    table(
      [
        {
          title: tr("Function"),
          value: (r) => sampledName(m, r.number),
          cell: (r) => [
            h("i", {class: "dot", style: {background: sampleColor(m, r.number, theme().dark)}}),
            tidy(sampledName(m, r.number), 120),
            callers(r) && h("small", {class: "callers"}, `\u2190 ${callers(r)}`),
          ],
          class: "name",
        },
        {title: tr("Samples"), value: (r) => r.n, cell: (r) => count(r.n), number: true},
        {title: tr("Share"), value: (r) => r.n, cell: (r) => percent(r.n, sums.n), number: true},
      ],
      rows.slice(0, SAMPLED_SHOWN),
    ),
    h("p", {class: "dim"}, sampledNote(m, sums, rows.length)),
  ];
}

function sampledNote(m, sums, functions) {
  const parts = [m.samples.isTime ? tr("%1, %2 of CPU time", plural(sums.n, "sample"), duration(sums.weight)) : plural(sums.n, "sample")];
  if (functions > SAMPLED_SHOWN) parts.push(tr("%1 more functions", count(functions - SAMPLED_SHOWN)));
  if (m.samples.every > 1) parts.push(tr("one sample of %1 is on this page", count(m.samples.every)));
  return parts.join(" \u00b7 ");
}

// What a thread executed in a stretch of time, under a title; nothing without samples of it.
function sampledIn(m, title, thread, from, to) {
  if (!m.samples || !thread) return null;
  const sums = sampledBetween(m, thread, from, to);
  return sums.n > 0 && [h("h4", null, title), sampledTable(m, sums)];
}

// The stretches in which holders of a lock made others wait, each once: by holder.
function contendedStretches(m, object) {
  const w = m.tables.waits,
    byHolder = new Map();
  for (let i = 0; i < w.n; i++)
    if (w.what[i] === object.index + 1 && w.holder[i])
      entry(byHolder, w.holder[i] - 1, () => []).push([w.begin[i], waitedUntil(w, i)]);
  for (const [holder, all] of byHolder) {
    all.sort((a, b) => a[0] - b[0]);
    byHolder.set(
      holder,
      all.reduce((joined, [from, to]) => {
        const last = joined[joined.length - 1];
        if (last && from <= last[1]) last[1] = Math.max(last[1], to);
        else joined.push([from, to]);
        return joined;
      }, []),
    );
  }
  return byHolder;
}

// What holders executed while others waited for a lock.
function sampledHolders(m, object) {
  if (!m.samples) return null;
  const sums = {n: 0, weight: 0, by: new Map()};
  for (const [holder, stretches] of contendedStretches(m, object))
    for (const [from, to] of stretches) sampledBetween(m, m.threads[holder], from, to, sums);
  return sums.n > 0 && [h("h4", null, tr("Executed by holders while others waited")), sampledTable(m, sums)];
}

// ------------------------------------------------------------------------------------------------- the strip

// Muted: bright ones are of locks.
function sampleColor(m, number, dark) {
  const hash = textHash(sampledName(m, number));
  return hexColor(hash % 360, 0.32, (dark ? 0.5 : 0.36) + ((hash >>> 9) % 4) * 0.05);
}

// Groups of samples are as long as a power of two of ns, so that they stay as they are when the view moves.
function sampleGroup(scale) {
  return 2 ** Math.ceil(Math.log2(SAMPLES_PIXELS / scale));
}

// Each group in the color of its most frequent function, paler where the thread ran less than all of the time.
function drawSamples(pen, m, thread, y, height, isDim) {
  const {ns, path} = thread.samples,
    c = pen.c,
    dark = theme().dark,
    width = sampleGroup(pen.scale),
    full = m.samples.frequency ? (m.samples.frequency / m.samples.every) * width * 1e-9 : 0;
  const color = (number) => entry(m.sampleColors, `${number} ${dark}`, () => sampleColor(m, number, dark));
  for (let at = Math.floor(pen.from / width) * width; at < pen.to;) {
    const from = above(ns, at - 0.5, 0, ns.length);
    if (from === ns.length) break;
    const begin = Math.floor(ns[from] / width) * width,
      to = above(ns, begin + width - 0.5, from, ns.length),
      step = Math.max(1, Math.floor((to - from) / SAMPLES_LOOKED_AT)),
      counts = new Map();
    at = begin + width;
    for (let i = from; i < to; i += step) {
      const number = sampledFunction(m, path[i]);
      counts.set(number, (counts.get(number) || 0) + 1);
    }
    const number = mostOften(counts),
      alone = to - from === 1,
      x0 = alone ? pen.x(ns[from]) - 1.5 : pen.x(begin),
      x1 = alone ? x0 + 3 : pen.x(at);
    c.globalAlpha = (isDim(number) ? 0.15 : 1) * (alone || full === 0 ? 1 : 0.4 + 0.6 * Math.min(1, (to - from) / full));
    c.fillStyle = color(number);
    c.fillRect(Math.max(pen.left, x0), y, Math.min(pen.left + pen.width, x1) - Math.max(pen.left, x0), height);
  }
  c.globalAlpha = 1;
}

// The group of samples at a moment: {thread, from, to, sums}; null where there is none.
function samplesAt(m, thread, ns, scale) {
  const width = sampleGroup(scale),
    from = Math.floor(ns / width) * width,
    to = from + width - 0.5,
    sums = sampledBetween(m, thread, from, to);
  return sums.n > 0 ? {thread, from, to: from + width, sums} : null;
}

// The line under the pointer.
function samplesTip(m, {thread, from, to, sums}) {
  const rows = [...sums.by.values()].sort((a, b) => b.n - a.n);
  return [
    h("b", null, tr("%1 in %2", plural(sums.n, "sample"), duration(to - from))),
    h("div", null, h("span", {class: "dim"}, `${tr("Thread")} `), thread.label),
    rows.slice(0, 4).map((r) => h("div", null, `${count(r.n)} \u00d7 ${tidy(sampledName(m, r.number), 100)}`)),
    rows.length > 4 ? h("div", {class: "dim"}, tr("%1 more", count(rows.length - 4))) : null,
  ];
}

function samplesDetails(m, {thread, from, to, sums}) {
  const most = [...sums.by.values()].sort((a, b) => b.n - a.n)[0],
    path = mostOften(most.paths);
  return [
    h("h3", null, tr("%1 of %2", plural(sums.n, "sample"), thread.label)),
    facts([
      [tr("Thread"), threadLink(m, thread)],
      [tr("From"), exact(from)],
      [tr("To"), exact(to)],
      [tr("Event"), m.samples.event],
    ]),
    sampledTable(m, sums),
    h("h4", null, tr("Most frequent call path")),
    h(
      "ol",
      {class: "stack"},
      sampledPath(m, path).map((number) => {
        const [name, file, module] = number < 0 ? [tr("not known"), "", ""] : m.samples.functions[number];
        return h(
          "li",
          null,
          h("code", {class: "fn"}, tidy(name, 160)),
          h("small", {class: "where", title: tidy(file || module, 400)}, tidy(baseName(file || module || ""), 80)),
        );
      }),
    ),
  ];
}
