// SPDX-License-Identifier: MIT
// The address of what is shown: "#timeline?from=1000&to=2000&q=till", for links, back and forward, and copies.

// What opens a line: the IDE that shows this page, or an editor with a scheme of its own. None unless the address has one.
const EDITORS = {
    ide: (file, line) => `upmu-edit:${encodeURI(file)}?line=${line}`,
    vscode: (file, line) => `vscode://file${encodeURI(file)}:${line}`,
  },
  [, EDITOR_NAMED] = location.hash.match(/[#?&]editor=(\w+)/) || [],
  EDITOR = EDITOR_NAMED !== undefined && Object.hasOwn(EDITORS, EDITOR_NAMED) ? EDITOR_NAMED : null;

// Times are nanoseconds since the begin of the recording; what is not in an address is as at first.
const ADDRESS_NUMBERS = ["from", "to", "thread", "object", "cutFrom", "cutTo"],
  ADDRESS_WORDS = ["chosen", "q", "sort", "pinned", "of", "split", "lang", "editor"],
  ADDRESS_FLAGS = ["path", "dense", "busy", "up", "before"];

function addressOf(view, state) {
  const words = [];
  for (const key of ADDRESS_NUMBERS)
    if (Number.isFinite(state[key])) words.push(`${key}=${Math.round(state[key])}`);
  for (const key of ADDRESS_WORDS) if (state[key] && key !== "lang" && key !== "editor") words.push(`${key}=${encodeURIComponent(state[key])}`);
  for (const key of ADDRESS_FLAGS) if (state[key]) words.push(`${key}=1`);
  if (LANGUAGE_CHOSEN) words.push(`lang=${LANGUAGE}`);
  if (EDITOR) words.push(`editor=${EDITOR}`);
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

// A source line, as a link for the editor where there is one.
function sourceLink(file, line, label) {
  if (!EDITOR || !file?.startsWith("/") || !line) return label;
  const stay = (e) => e.stopPropagation(); // rows of tables are links, too
  return h("a", {class: "to", href: EDITORS[EDITOR](file, line), title: tr("Open in the editor"), onclick: stay, onkeydown: stay}, label);
}

// A call site: its function, and its line.
function sitePlace(m, site) {
  const f = m.siteFrame(site);
  if (!f) return "";
  return [tidy(f.name, 90), f.file ? [" ", sourceLink(f.file, f.line, `${tidy(baseName(f.file), 60)}:${f.line}`)] : ""];
}

// A phrase of the catalogue with a call site for its %1.
function sitePhrase(m, phrase, site) {
  const [before, after] = tr(phrase, "\u0001").split("\u0001"),
    place = sitePlace(m, site);
  return [before, place === "" ? tr("a call site that was not recorded") : place, after];
}

// A call site, as a search for its function, and its line in the editor.
function siteLink(m, site) {
  const text = m.siteText(site),
    f = m.siteFrame(site);
  if (!text) return "";
  if (!EDITOR || !f.file) return linkTo(m, text, {q: m.siteFunction(site)});
  return [linkTo(m, tidy(f.name, 90), {q: f.name}), " ", sourceLink(f.file, f.line, `${tidy(baseName(f.file), 60)}:${f.line}`)];
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
