// SPDX-License-Identifier: MIT
// Pointer and keyboard input of the timeline.

class Hand {
  constructor(timeline) {
    this.t = timeline;
    this.listen();
  }

  listen() {
    const canvas = this.t.screen.canvas;
    this.t.scroller.addEventListener("scroll", () => this.t.screen.ask());
    canvas.addEventListener("wheel", (e) => this.wheel(e), {passive: false});
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointermove", (e) => this.hover(e));
    canvas.addEventListener("pointerleave", () => {
      this.t.tip.hidden = true;
    });
    canvas.addEventListener("dblclick", (e) => {
      const at = this.hitAt(e);
      if (at && at.row) this.t.choose(at.row, at.index, true);
    });
    canvas.addEventListener("keydown", (e) => this.key(e));
    this.t.mini.canvas.addEventListener("pointerdown", (e) => this.downMini(e));
    document.addEventListener("keydown", (e) => {
      if (e.key !== "/" || byId("timeline").hidden || e.target === this.t.search) return;
      e.preventDefault();
      this.t.search.focus();
    });
  }

  nsAt(x) {
    const width = this.t.screen.canvas.clientWidth - GUTTER;
    return this.t.view.from + ((x - GUTTER) / width) * (this.t.view.to - this.t.view.from);
  }

  hitAt(e) {
    const near = (3 * (this.t.view.to - this.t.view.from)) / Math.max(1, this.t.screen.canvas.clientWidth - GUTTER);
    if (e.offsetY < RULER) return null;
    return hit(this.t.layout, e.offsetY + this.t.scroller.scrollTop - RULER, this.nsAt(e.offsetX), near);
  }

  // The samples under the pointer.
  samplesUnder(at, e) {
    const {m, view} = this.t;
    return at?.strip?.kind === "sample" && e.offsetX >= GUTTER
      ? samplesAt(m, at.lane.thread, this.nsAt(e.offsetX), canvasWidth(this.t) / (view.to - view.from))
      : null;
  }

  wheel(e) {
    e.preventDefault();
    const pixels = e.deltaMode === 1 ? 30 : e.deltaMode === 2 ? 400 : 1;
    if (e.shiftKey && !e.ctrlKey) this.t.scroller.scrollTop += (e.deltaY || e.deltaX) * pixels;
    else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.t.move((e.deltaX * pixels) / canvasWidth(this.t));
    else
      this.t.zoom(
        Math.exp(Math.max(-1, Math.min(1, e.deltaY * pixels * 0.0022))),
        this.nsAt(Math.max(GUTTER, e.offsetX)),
      );
  }

  // A drag moves time and lanes, or measures; without a move it is a click.
  down(e) {
    if (e.button !== 0) return;
    const canvas = this.t.screen.canvas,
      start = {x: e.clientX, y: e.clientY, view: {...this.t.view}, top: this.t.scroller.scrollTop},
      ns = this.nsAt(e.offsetX),
      measure = e.shiftKey || this.t.measuring;
    const per = (this.t.view.to - this.t.view.from) / canvasWidth(this.t);
    let moved = false;
    canvas.setPointerCapture(e.pointerId);
    this.t.tip.hidden = true;
    const drag = (d) => {
      moved = moved || Math.abs(d.clientX - start.x) + Math.abs(d.clientY - start.y) > 4;
      if (!moved) return;
      if (measure) {
        this.t.range = {a: ns, b: this.nsAt(d.offsetX)};
        this.t.screen.ask();
        return;
      }
      this.t.scroller.scrollTop = start.top - (d.clientY - start.y);
      this.t.show(start.view.from - (d.clientX - start.x) * per, start.view.to - (d.clientX - start.x) * per);
    };
    const up = (u) => {
      canvas.removeEventListener("pointermove", drag);
      canvas.removeEventListener("pointerup", up);
      canvas.removeEventListener("pointercancel", up);
      if (!moved) this.click(u);
      else if (measure && this.t.range) this.t.showRange();
    };
    canvas.addEventListener("pointermove", drag);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
  }

  click(e) {
    const at = this.hitAt(e),
      samples = this.samplesUnder(at, e);
    if (at && at.lane.kind === "head") this.t.fold(at.lane.key);
    else if (samples) this.t.showSamples(samples);
    else if (at && e.offsetX < GUTTER && (at.lane.thread || at.lane.object)) this.t.showLane(at.lane);
    else if (at && at.row) {
      this.t.chosenLane = at.lane.kind;
      this.t.choose(at.row, at.index);
    } else this.t.choose(null);
  }

  hover(e) {
    const at = e.buttons ? null : this.hitAt(e),
      samples = this.samplesUnder(at, e);
    this.t.screen.canvas.style.cursor = this.t.measuring
      ? "crosshair"
      : at && (at.row || samples || at.lane.kind === "head" || (e.offsetX < GUTTER && at.lane.kind !== "counter"))
        ? "pointer"
        : "default";
    this.t.tip.hidden = !at || !(at.row || samples) || e.offsetX < GUTTER;
    if (this.t.tip.hidden) return;
    replace(this.t.tip, samples ? samplesTip(this.t.m, samples) : tip(this.t.m, at.row, at.index));
    const box = this.t.tip.getBoundingClientRect();
    this.t.tip.style.left = `${Math.max(4, Math.min(e.clientX + 14, window.innerWidth - box.width - 8))}px`;
    this.t.tip.style.top = `${e.clientY + 18 + box.height > window.innerHeight ? e.clientY - box.height - 10 : e.clientY + 18}px`;
  }

  downMini(e) {
    const canvas = this.t.mini.canvas,
      at = (d) => ((d.offsetX - GUTTER) / (canvas.clientWidth - GUTTER)) * this.t.end,
      span = this.t.view.to - this.t.view.from;
    const start = at(e),
      draws = start < this.t.view.from || start > this.t.view.to || span > this.t.end * 0.95;
    canvas.setPointerCapture(e.pointerId);
    const grip = start - this.t.view.from;
    const drag = (d) => {
      if (draws && Math.abs(at(d) - start) > this.t.end / 300)
        this.t.show(Math.min(start, at(d)), Math.max(start, at(d)));
      else if (!draws) this.t.show(at(d) - grip, at(d) - grip + span);
    };
    if (draws && span <= this.t.end * 0.95) this.t.show(start - span / 2, start + span / 2);
    canvas.addEventListener("pointermove", drag);
    canvas.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", drag), {once: true});
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const lanes = (by) => {
      this.t.scroller.scrollTop += by;
    };
    const does = {
      w: () => this.t.zoom(0.7),
      s: () => this.t.zoom(1 / 0.7),
      "+": () => this.t.zoom(0.7),
      "=": () => this.t.zoom(0.7),
      "-": () => this.t.zoom(1 / 0.7),
      a: () => this.t.move(-0.15),
      d: () => this.t.move(0.15),
      ArrowLeft: () => this.t.move(-0.15),
      ArrowRight: () => this.t.move(0.15),
      ArrowUp: () => lanes(-60),
      ArrowDown: () => lanes(60),
      PageUp: () => lanes(-this.t.scroller.clientHeight * 0.8),
      PageDown: () => lanes(this.t.scroller.clientHeight * 0.8),
      0: () => this.t.showAll(),
      Home: () => this.t.showAll(),
      n: () => this.t.next(1),
      p: () => this.t.next(-1),
      j: () => this.t.nextLane(1),
      k: () => this.t.nextLane(-1),
      c: () => this.t.path_button.hidden || this.t.setPath(!this.t.path_shown),
      "[": () => nextHop(this.t, -1),
      "]": () => nextHop(this.t, 1),
      m: () => this.t.setMeasure(!this.t.measuring),
      "?": () => {
        this.t.help.hidden = !this.t.help.hidden;
      },
      Enter: () => this.t.chosen && this.t.choose(this.t.chosen.row, this.t.chosen.index, true),
      Escape: () => {
        this.t.help.hidden = true;
        this.t.setMeasure(false);
        this.t.range = null;
        this.t.choose(null);
      },
    }[e.key];
    if (!does) return;
    e.preventDefault();
    does();
  }
}
