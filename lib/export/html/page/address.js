// SPDX-License-Identifier: MIT
// The address of what is shown: "#timeline?from=1000&to=2000&q=till", for links, back and forward, and copies.

// Times are nanoseconds since the begin of the recording; what is not in an address is as at first.
const ADDRESS_NUMBERS = ["from", "to", "thread", "object", "cutFrom", "cutTo"],
  ADDRESS_WORDS = ["chosen", "q", "sort", "pinned", "of", "split", "lang"],
  ADDRESS_FLAGS = ["path", "dense", "busy", "up", "before"];

function addressOf(view, state) {
  const words = [];
  for (const key of ADDRESS_NUMBERS)
    if (Number.isFinite(state[key])) words.push(`${key}=${Math.round(state[key])}`);
  for (const key of ADDRESS_WORDS) if (state[key] && key !== "lang") words.push(`${key}=${encodeURIComponent(state[key])}`);
  for (const key of ADDRESS_FLAGS) if (state[key]) words.push(`${key}=1`);
  if (LANGUAGE_CHOSEN) words.push(`lang=${LANGUAGE}`);
  return `#${view}${words.length ? "?" + words.join("&") : ""}`;
}

// The parts of an address. Words that it should not have are skipped.
function readAddress(hash) {
  const [view, query = ""] = hash.replace(/^#/, "").split("?"),
    state = {view};
  for (const word of query.split("&")) {
    const at = word.indexOf("="),
      key = word.slice(0, at),
      value = word.slice(at + 1);
    if (ADDRESS_NUMBERS.includes(key) && Number.isFinite(Number(value)) && value !== "") state[key] = Number(value);
    if (ADDRESS_FLAGS.includes(key)) state[key] = value === "1";
    if (ADDRESS_WORDS.includes(key)) {
      try {
        state[key] = decodeURIComponent(value);
      } catch {
        state[key] = "";
      }
    }
  }
  return state;
}

// A link to a part of the timeline, or of another view: a click keeps what the address does not name.
function linkTo(m, label, where, view = "timeline") {
  const go = (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey || e.button > 0) return;
    e.preventDefault();
    m.app.show(view, where);
  };
  return h("a", {class: "to", href: addressOf(view, where), onclick: go}, label);
}

function threadLink(m, t) {
  return linkTo(m, t.label, {thread: t.index});
}

function objectLink(m, o) {
  return linkTo(m, o.title, {object: o.index});
}

// A call site, as a search for its function.
function siteLink(m, site) {
  const text = m.siteText(site);
  return text ? linkTo(m, text, {q: m.siteFunction(site)}) : "";
}

// "waits.12": a span, as an address has it.
function spanName(row, index) {
  return `${row.table.name}.${index}`;
}

// {row, index} of a span's name; null if there is none.
function spanNamed(m, name) {
  const [table, number] = (name || "").split("."),
    index = Number(number),
    found = Object.hasOwn(m.tables, table) && m.tables[table].rows.find((r) => index >= r.from && index < r.to);
  return found && Number.isInteger(index) ? {row: found, index} : null;
}

// The span of a thread's hold of an object at a moment; null if it is not kept.
function holdAt(m, object, thread, ns) {
  for (const row of m.tables.holds.rows) {
    if (row.a !== object.index || row.b !== thread.index) continue;
    const index = above(row.table.begin, ns, row.from, row.to) - 1;
    if (index >= row.from && row.table.begin[index] + row.table.ns[index] >= ns) return spanName(row, index);
  }
  return null;
}
