// SPDX-License-Identifier: MIT
// Small drawings on canvas: theme colors, time axis, stacked areas.

let themeCache = null;

const LAYERS_MOST = 12;

// The colors of the page's style, for canvases.
function theme() {
  if (themeCache) return themeCache;
  const style = getComputedStyle(document.documentElement),
    get = (name) => style.getPropertyValue("--" + name).trim();
  themeCache = {dark: get("dark") === "1"};
  for (const name of [
    "page",
    "panel",
    "ink",
    "dim",
    "faint",
    "line",
    "grid",
    "lane",
    "run",
    "accent",
    "select",
    "warn",
    "bad",
    "shade",
  ])
    themeCache[name] = get(name);
  themeCache.font = get("font");
  return themeCache;
}

// Round steps of a time axis: about that many pixels apart.
function axisStep(span, width, room) {
  const least = (span * room) / Math.max(1, width),
    power = Math.pow(10, Math.floor(Math.log10(Math.max(1e-3, least))));
  return power * [1, 2, 5, 10].find((n) => power * n >= least);
}

// Calls mark(x, label) for each round moment of [from, to].
function axisMarks(from, to, width, mark) {
  const step = axisStep(to - from, width, 110);
  for (let i = Math.ceil(from / step); i * step <= to; i++)
    mark(((i * step - from) / (to - from)) * width, moment(i * step, step));
}

// Blocked threads over the time that the page holds, one layer for each of the locks waited for most, one for the rest,
// one for the parts of MPI calls in which a rank waited.
function contention(model, bins) {
  const w = model.tables.waits,
    {from, to} = model.shown,
    width = (to - from) / bins || 1;
  const layer = (title, color, calm) => ({title, color, calm, sum: new Float64Array(bins + 1)}),
    byKey = new Map(), // calls of one kind, in processes of one program, are one layer
    of = new Map();
  for (const o of model.objects) {
    const key = o.call ? o.title : o.index;
    if (o.color === OTHER_COLOR || !(byKey.has(key) || byKey.size < LAYERS_MOST)) continue;
    if (!byKey.has(key)) byKey.set(key, layer(o.title, o.color, o.calm));
    of.set(o.index + 1, byKey.get(key));
  }
  const others = layer(tr("others"), OTHER_COLOR, true),
    mpi = layer(tr("MPI waits"), MPI_WAIT_COLOR, false),
    layers = [...byKey.values(), others, mpi];
  for (const t of [w, model.stalls].filter(Boolean))
    for (const row of t.rows) {
      if (row.b > 0) continue; // within another wait
      for (let i = row.from; i < row.to; i++) {
        const l = t === model.stalls ? mpi : of.get(t.what[i]) || others,
          begin = Math.max(from, t.begin[i]),
          end = Math.min(to, t.begin[i] + t.ns[i]);
        if (end < begin) continue;
        spread(l.sum, (begin - from) / width, (end - from) / width, t.ns[i] > 0 ? 1 - t.idle[i] / t.ns[i] : 0);
      }
    }
  return layers.map((l) => ({...l, sum: walk(l.sum, bins)})).filter((l) => l.sum.some((n) => n > 0));
}

// Adds `weight` to the bins between two places, as differences: whole bins by their ends, parts of bins at once.
function spread(sum, from, to, weight) {
  sum.parts = sum.parts || new Float64Array(sum.length);
  const last = sum.length - 2,
    a = Math.min(last, Math.floor(from)),
    b = Math.min(last, Math.floor(to));
  if (a === b) {
    sum.parts[a] += weight * (to - from);
    return;
  }
  sum.parts[a] += weight * (a + 1 - from);
  sum.parts[b] += weight * Math.min(1, to - b);
  sum[a + 1] += weight;
  sum[b] -= weight;
}

function walk(sum, bins) {
  const out = new Float64Array(bins);
  for (let i = 0, level = 0; i < bins; i++) {
    level += sum[i];
    out[i] = Math.max(0, level + (sum.parts ? sum.parts[i] : 0));
  }
  return out;
}

// Stacked areas: those of locks below, those of calm waits, paler, above.
function drawLayers(context, layers, x, y, width, height, most) {
  const bins = layers.length ? layers[0].sum.length : 0,
    base = new Float64Array(bins);
  for (const layer of [...layers].sort((a, b) => a.calm - b.calm)) {
    context.beginPath();
    context.moveTo(x, y + height);
    for (let i = 0; i < bins; i++) stepTo(context, x, y, width, height, i, bins, base[i] / most, false);
    for (let i = bins; i-- > 0;) {
      base[i] += layer.sum[i];
      stepTo(context, x, y, width, height, i, bins, base[i] / most, true);
    }
    context.closePath();
    context.globalAlpha = layer.calm ? 0.38 : 0.92;
    context.fillStyle = layer.color;
    context.fill();
  }
  context.globalAlpha = 1;
}

// The top of a bin, from left to right or back.
function stepTo(context, x, y, width, height, i, bins, share, back) {
  const top = y + height * (1 - share);
  context.lineTo(x + ((i + back) / bins) * width, top);
  context.lineTo(x + ((i + !back) / bins) * width, top);
}

function mostBlocked(layers) {
  let most = 0;
  for (let i = 0; layers.length && i < layers[0].sum.length; i++)
    most = Math.max(
      most,
      layers.reduce((n, l) => n + l.sum[i], 0),
    );
  return most;
}
