// SPDX-License-Identifier: MIT
// The page: reads the data, shows a view when it is first selected, keeps the light or dark theme.

const VIEWS = {
  overview: showOverview,
  timeline: (app) => {
    app.timeline = new Timeline(app);
  },
  deadlock: showDeadlock,
  regions: showRegions,
};

class App {
  constructor(data) {
    this.model = new Model(data);
    this.made = new Set();
    this.themed = [];
    const tabs = [...document.querySelectorAll("[role=tab]")];
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
    window.addEventListener("hashchange", () => this.show(this.wanted()));
    this.head();
  }

  wanted() {
    const view = location.hash.slice(1);
    return Object.hasOwn(VIEWS, view) ? view : "overview";
  }

  head() {
    const m = this.model,
      first = m.processes[0],
      command = first ? tidy(first.command, 160) : "";
    byId("command").replaceChildren(
      h("code", {title: command}, command),
      m.processes.length > 1 ? ` and ${plural(m.processes.length - 1, "process", "processes")} more` : "",
    );
    document.title = `${command.split(" ").map(baseName)[0] || "recording"} \u2013 libupmu`;
    const stuck = (m.deadlocks.items || []).filter((i) => i.certainty === "certain").length;
    const notices = [
      stuck && ["bad", `${plural(stuck, "deadlock")}: threads wait for each other for ever. `, "deadlock"],
      m.lost && ["warn", `${plural(m.lost, "event")} did not fit and are lost: sums are at least so large. `],
      m.window && [
        "",
        `The timeline and the chart hold ${exact(m.shown.from)} to ${exact(m.shown.to)}; tables and sums are of the whole recording. `,
      ],
      m.damages.length && [
        "bad",
        `${plural(m.damages.length, "stream")} of this recording could not be read to the end. `,
      ],
    ].filter(Boolean);
    byId("notices").replaceChildren(
      ...notices.map(([kind, text, view]) =>
        h("p", {class: `notice ${kind}`}, text, view ? button("Show", () => this.show(view)) : null),
      ),
    );
    if (stuck) byId("tab-deadlock").append(h("span", {class: "badge"}, stuck));
  }

  onTheme(redraw) {
    this.themed.push(redraw);
  }

  setTheme(name) {
    document.documentElement.dataset.theme = name;
    this.themeChanged();
  }

  themeChanged() {
    themeCache = null;
    for (const redraw of this.themed) redraw();
  }

  show(view, where) {
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
    if (location.hash.slice(1) !== view) history.replaceState(null, "", `#${view}`);
    if (where && view === "timeline") this.timeline.goTo(where);
  }
}

function failed(problem) {
  byId("busy").replaceChildren(
    h("span", {class: "notice bad"}, `This report cannot be shown: ${problem.message}. `),
    "upmu report DIR prints the same as text.",
  );
}

readData()
  .then((data) => {
    const app = new App(data);
    byId("busy").hidden = true;
    app.show(app.wanted());
    document.documentElement.dataset.ready = "1";
    globalThis.upmuReport = app; // for tests, and for the curious
  })
  .catch(failed);
