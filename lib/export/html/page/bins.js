// SPDX-License-Identifier: MIT
// Spans of a row summed up in bins of time, at several widths, so that a picture of millions of spans takes its pixels' time.

const SPANS_PER_BIN = 8, // on average, at the narrowest width
  BINS_FROM = 4096, // rows with fewer spans are drawn as they are
  BINS_LEAST = 512,
  BINS_PER_PIXEL = 4;

// Bin b has the spans from[b] to from[b + 1], their time without what is idle, the longest, and whether one is unfinished.
function narrowestBins(row) {
  const {begin, ns, idle, flags} = row.table,
    n = Math.ceil((row.to - row.from) / SPANS_PER_BIN),
    origin = begin[row.from],
    width = Math.max(1e-3, (begin[row.to - 1] - origin) / n),
    bins = {origin, width, n, from: new Uint32Array(n + 1), cover: new Float64Array(n), longest: new Uint32Array(n), open: new Uint8Array(n)};
  let i = row.from;
  for (let b = 0; b < n; b++) {
    const end = b + 1 < n ? origin + (b + 1) * width : Infinity;
    bins.from[b] = bins.longest[b] = i;
    for (; i < row.to && begin[i] < end; i++) {
      bins.cover[b] += ns[i] - idle[i];
      bins.open[b] |= flags[i] & UNFINISHED;
      if (ns[i] > ns[bins.longest[b]]) bins.longest[b] = i;
    }
  }
  bins.from[n] = row.to;
  return bins;
}

function twiceAsWide(row, bins) {
  const {ns} = row.table,
    n = Math.ceil(bins.n / 2),
    wide = {origin: bins.origin, width: bins.width * 2, n, from: new Uint32Array(n + 1), cover: new Float64Array(n), longest: new Uint32Array(n), open: new Uint8Array(n)};
  for (let b = 0; b < n; b++) {
    const i = 2 * b,
      k = Math.min(i + 1, bins.n - 1);
    wide.from[b] = bins.from[i];
    wide.cover[b] = bins.cover[i] + (k > i ? bins.cover[k] : 0);
    wide.open[b] = bins.open[i] | bins.open[k];
    wide.longest[b] = bins.from[k + 1] > bins.from[k] && ns[bins.longest[k]] > ns[bins.longest[i]] ? bins.longest[k] : bins.longest[i];
  }
  wide.from[n] = row.to;
  return wide;
}

// The widest bins that are a part of a pixel; null where the spans themselves are few enough. Made when first asked for.
function binsFor(row, scale) {
  if (row.to - row.from < BINS_FROM) return null;
  if (!row.bins) {
    row.bins = [narrowestBins(row)];
    while (row.bins[0].n > BINS_LEAST) row.bins.unshift(twiceAsWide(row, row.bins[0]));
  }
  return row.bins.find((bins) => bins.width * scale * BINS_PER_PIXEL <= 1) || null;
}
