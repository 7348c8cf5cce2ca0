// SPDX-License-Identifier: MIT
// The page: reads the data, shows a view when it is first selected, keeps the light or dark theme.

const VIEWS = {
  overview: showOverview,
  timeline: (app) => {
    app.timeline = new Timeline(app);
  },
  events: (app) => {
    app.events = new EventTable(app);
  },
  deadlock: showDeadlock,
  regions: showRegions,
  compare: showCompare,
};

// How much smaller a table must be to fit the width of a sheet (A4, margins of the browser), in the frame of its panel.
function paperZoom(table) {
  const PAPER = 640,
    before = table.style.width;
  table.style.width = "1px";
  const least = table.scrollWidth;
  table.style.width = before;
  return least > PAPER ? String(PAPER / least) : "";
}

class App {
  constructor(data) {
    this.recording = new Model(data);
    this.recording.app = this;
    this.base = data.base ? new Model(data.base) : null; // the older recording of a comparison
    this.model = this.recording; // or a part of it, see setCut()
    this.made = new Set();
    this.themed = [];
    this.flame = {of: "", split: "", up: false, before: false};
    byId("tab-compare").hidden = !this.base;
    const tabs = [...document.querySelectorAll("[role=tab]:not([hidden])")];
    for (const tab of tabs) {
      tab.addEventListener("click", () => this.show(tab.dataset.view));
      tab.addEventListener("keydown", (e) => {
        const way = {ArrowRight: 1, ArrowLeft: -1}[e.key];
        if (!way) return;
        const next = tabs[(tabs.indexOf(tab) + way + tabs.length) % tabs.length];
        next.focus();
        this.show(next.dataset.view);
      });
    }
    byId("theme").addEventListener("click", () => {
      this.themeChanged();
      this.setTheme(theme().dark ? "light" : "dark");
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themeChanged());
    byId("language").addEventListener("click", () => speak(LANGUAGE === "zh" ? "en" : "zh"));
    this.ink = inkOn; // for tests
    this.pen = Pen;
    this.binsFor = binsFor;
    this.untranslated = UNTRANSLATED;
    this.findingSentence = findingSentence;
    window.addEventListener("beforeprint", () => this.forPaper(true));
    window.addEventListener("afterprint", () => this.forPaper(false));
    window.addEventListener("popstate", () => this.arrive());
    this.setCut();
  }

  // Shows what the address names, as a whole.
  arrive() {
    if (languageOf(location.hash) !== LANGUAGE) location.reload();
    const state = readAddress(location.hash),
      known = Object.hasOwn(VIEWS, state.view) && (this.base || state.view !== "compare"),
      view = known ? state.view : this.base ? "compare" : "overview";
    this.setCut(state.cutFrom, state.cutTo);
    if (this.hasFlame(view)) {
      this.flame = {of: state.of || "", split: state.split || "", up: Boolean(state.up), before: Boolean(state.before)};
      this.forget(view);
    }
    this.open(view);
    if (view === "timeline") this.timeline.restore({...this.timeline.first(), ...state});
    if (view === "events" && state.q) {
      this.events.search.value = state.q;
      this.events.look(state.q);
    }
  }

  // Shows a view, with what `where` names and all else as it was: a step for the browser's "back".
  show(view, where) {
    this.noteNow();
    this.step(view, where);
  }

  step(view, where = {}) {
    this.open(view);
    const state = view === "timeline" ? {...this.timeline.state(), ...where} : this.hasFlame(view) ? {...this.flame, ...where} : where;
    history.pushState(null, "", addressOf(view, {...this.cut, ...state}));
    if (view === "timeline") this.timeline.restore(where);
  }

  // What is shown has changed within its view: the address follows, without a step of its own.
  note() {
    clearTimeout(this.noting);
    this.noting = setTimeout(() => this.noteNow(), 300);
  }

  noteNow() {
    clearTimeout(this.noting);
    const view = document.body.dataset.view,
      state = view === "timeline" && this.timeline ? this.timeline.state() : this.hasFlame(view) ? this.flame : null;
    if (state) history.replaceState(null, "", addressOf(view, {...this.cut, ...state}));
  }

  // All views but the timeline show this part of the recording; all of it without numbers.
  setCut(from, to) {
    const cut = Number.isFinite(from) && Number.isFinite(to) && to > from ? {cutFrom: from, cutTo: to} : {};
    if (this.cut && this.cut.cutFrom === cut.cutFrom && this.cut.cutTo === cut.cutTo) return;
    this.cut = cut;
    this.model = to > from ? cutModel(this.recording, from, to) : this.recording.window ? this.windowModel() : this.recording;
    for (const view of ["overview", "regions"]) this.forget(view);
    this.head();
  }

  // Of a page that was written for a part, that is the whole.
  windowModel() {
    const m = this.recording,
      part = cutModel(m, m.shown.from, m.shown.to);
    part.findings = m.findings;
    return part;
  }

  hasFlame(view) {
    return view === "regions" || view === "compare";
  }

  // The view is made again when it is next shown.
  forget(view) {
    byId(view).replaceChildren();
    this.made.delete(view);
  }

  head() {
    const m = this.recording,
      first = m.processes[0],
      command = first ? tidy(first.command, 160) : "";
    byId("command").replaceChildren(
      h("code", {title: command}, command),
      m.processes.length > 1 ? tr(" and %1 more", plural(m.processes.length - 1, "process", "processes")) : "",
    );
    document.title = `${command.split(" ").map(baseName)[0] || tr("recording")} \u2013 libupmu`;
    const stuck = (m.deadlocks.items || []).filter((i) => i.certainty === "certain").length;
    const notices = [
      stuck && ["bad", tr("%1: threads wait for each other permanently. ", plural(stuck, "deadlock")), "deadlock"],
      m.lost && ["warn", tr("%1 did not fit and are lost: sums are at least so large. ", plural(m.lost, "event"))],
      m.window && [
        "",
        tr("This page has %1 to %2: timeline, findings, tables and sums are of that part. ", exact(m.shown.from), exact(m.shown.to)),
      ],
      this.cut?.cutTo && [
        "",
        tr("All sums and tables are of %1 to %2. ", exact(this.cut.cutFrom), exact(this.cut.cutTo)),
        null,
        true,
      ],
      m.totals.openmp && ["", tr("Work and waits of OpenMP are not on this page: upmu report --openmp shows them. ")],
      m.damages.length && [
        "bad",
        tr("%1 of this recording could not be read to the end. ", plural(m.damages.length, "stream")),
      ],
    ].filter(Boolean);
    byId("notices").replaceChildren(
      ...notices.map(([kind, text, view, cut]) =>
        h(
          "p",
          {class: `notice ${kind}`},
          text,
          cut
            ? button(tr("Whole recording"), () => this.showCut())
            : view
              ? button(tr("Show"), () => this.show(view))
              : null,
        ),
      ),
    );
    byId("tab-deadlock").replaceChildren(tr("Deadlock"), stuck ? h("span", {class: "badge"}, stuck) : "");
  }

  onTheme(redraw) {
    this.themed.push(redraw);
  }

  setTheme(name) {
    document.documentElement.dataset.theme = name;
    this.themeChanged();
  }

  // Paper is light.
  forPaper(on) {
    const root = document.documentElement;
    if (on) {
      this.screen_theme = root.dataset.theme || "";
      root.dataset.theme = "light";
    } else if (this.screen_theme) root.dataset.theme = this.screen_theme;
    else delete root.dataset.theme;
    this.themeChanged();
    drawCanvases();
    for (const table of document.querySelectorAll(".table > table, .matrix > *")) table.style.zoom = on ? paperZoom(table) : "";
  }

  themeChanged() {
    themeCache = null;
    for (const redraw of this.themed) redraw();
  }

  // Shows a part of the recording in the overview; all of it without numbers.
  showCut(from, to) {
    this.noteNow();
    this.setCut(from, to);
    this.step("overview");
  }

  open(view) {
    for (const name of Object.keys(VIEWS)) {
      const tab = byId(`tab-${name}`),
        on = name === view;
      byId(name).hidden = !on;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
    }
    document.body.dataset.view = view;
    if (!this.made.has(view)) VIEWS[view](this);
    this.made.add(view);
  }
}

function failed(problem) {
  byId("busy").replaceChildren(
    h("span", {class: "notice bad"}, tr("This report cannot be shown: %1. ", problem.message)),
    tr("upmu report DIR prints the same as text."),
  );
}

translatePage();
readData()
  .then((data) => {
    const app = new App(data);
    byId("busy").hidden = true;
    app.arrive();
    document.documentElement.dataset.ready = "1";
    globalThis.upmuReport = app; // for tests, and for the curious
  })
  .catch(failed);
