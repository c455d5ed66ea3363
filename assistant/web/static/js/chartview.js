// The chart's view in the panel: which metrics and runs, log axis, smoothing, the values under the pointer.

import { draw, hue, keysOf, library, pan, whole, zoom } from "./chart.js";
import { h, iconButton } from "./dom.js";
import { figure, t } from "./i18n.js";
import { course, joined, scales, smooth } from "./lines.js";
import { on, overview, series, state } from "./store.js";

const MOST_METRICS = 8;
/** Scales that one picture holds: a left and a right axis. With more, each metric has a strip of its own. */
const MOST_SCALES = 2, STRIP_HEIGHT = 108;
const DASHES = [undefined, [6, 4], [2, 3], [10, 4, 2, 4]];

export class ChartView {
  constructor() {
    this.node = h("div", { class: "charting" });
    this.reset();
    this.build();
    new ResizeObserver(() => this.resize()).observe(this.holder);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    on("theme", () => this.redraw());
  }

  reset() {
    Object.assign(this, { metrics: [], runs: null, step: null, log: this.log ?? false, weight: this.weight ?? 0, run: null, key: "" });
  }

  runsChanged() {
    if (this.runs) this.runs = this.runs.filter((id) => state.runs.some((run) => run.id === id));
    this.key = "";
  }

  build() {
    this.picker = h("input", { type: "text", class: "field", list: "chart-metrics", autocomplete: "off", spellcheck: "false", "aria-label": t("chart.add"), placeholder: t("chart.add") });
    this.options = h("datalist", { id: "chart-metrics" });
    this.picker.addEventListener("change", () => this.pick());
    this.picker.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); this.pick(true); } });
    this.logButton = h("button", { type: "button", class: "pill", "aria-pressed": String(this.log), on: { click: () => { this.log = !this.log; this.logButton.setAttribute("aria-pressed", String(this.log)); this.redraw(); } } }, t("chart.log"));
    this.range = h("input", { type: "range", min: "0", max: "0.99", step: "0.01", value: String(this.weight), "aria-label": t("chart.smooth") });
    this.amount = h("output", {}, figure(this.weight, 2));
    this.range.addEventListener("input", () => { this.weight = Number(this.range.value); this.amount.textContent = figure(this.weight, 2); this.redraw(); });
    this.chips = h("div", { class: "chart-chips", role: "group", "aria-label": t("chart.shown") });
    this.runBox = h("div", { class: "chart-runs", role: "group", "aria-label": t("chart.runs") });
    this.holder = h("div", { class: "plot", tabindex: "0", role: "application", "aria-label": t("chart.label") });
    this.legend = h("table", { class: "legend" });
    this.note = h("p", { class: "soft small", role: "status" });
    const act = (name, key, does) => iconButton(name, t(key), () => this.plot && does(this.plot));
    this.node.replaceChildren(h("div", { class: "chart-pick" }, this.picker, this.options), this.chips, this.runBox,
      h("div", { class: "chart-tools" }, this.logButton, h("label", { class: "smooth" }, h("span", {}, t("chart.smooth")), this.range, this.amount),
        h("span", { class: "zoom" }, act("prev", "chart.left", (plot) => pan(plot, -0.25)), act("minus", "chart.out", (plot) => zoom(plot, 1.6)), act("plus", "chart.in", (plot) => zoom(plot, 0.6)), act("next", "chart.right", (plot) => pan(plot, 0.25)), act("redo", "chart.whole", whole))),
      this.holder, this.note, h("div", { class: "table", tabindex: "0", role: "region", "aria-label": t("chart.values") }, this.legend), h("p", { class: "soft small hint-line" }, t("chart.hint")));
  }

  relabel() { this.plot?.destroy(); this.plot = null; this.build(); this.key = ""; }

  pick(enter = false) {
    const text = this.picker.value.trim();
    const all = this.seen?.metrics.map((one) => one.key) ?? [];
    const found = all.includes(text) ? text : enter ? all.find((key) => key.toLowerCase().includes(text.toLowerCase())) : null;
    if (!found || !text) return;
    this.picker.value = "";
    this.choose([found]);
    this.show(this.run);
  }

  /** Adds metrics, or with `only` shows just these; `step` is marked. */
  choose(metrics, { runs = null, only = false, step = null } = {}) {
    const some = metrics.filter((key) => typeof key === "string");
    this.metrics = [...new Set(only ? some : [...this.metrics, ...some])].slice(-MOST_METRICS);
    if (runs) this.runs = [...new Set(runs)];
    this.step = step;
    this.key = "";
  }

  marked(fact) {
    if (fact.metric && typeof (fact.step ?? fact.to_step) === "number") this.choose([fact.metric], { runs: fact.run ? [fact.run] : null, only: true, step: fact.step ?? fact.to_step });
  }

  async show(run) {
    this.run = run;
    this.seen = await overview(run);
    this.options.replaceChildren(...this.seen.metrics.map((one) => h("option", { value: one.key }, one.title ?? "")));
    if (!this.runs?.length) this.runs = [run];
    if (!this.runs.includes(run) && this.runs.length === 1) this.runs = [run];
    if (!this.metrics.length) this.metrics = this.main();
    const held = await Promise.all(this.runs.map((id) => series(id, this.metrics)));
    const key = JSON.stringify([this.runs, this.metrics, this.step, held.map((one) => one.steps.length)]);
    if (key === this.key) return;
    this.key = key;
    const findings = (await Promise.all(this.runs.map(async (id) => (await overview(id)).findings ?? []))).flat();
    this.findings = findings.filter((one) => typeof one.onset === "number" && (one.severity === "critical" || one.severity === "warning") && (one.metrics ?? []).some((metric) => this.metrics.includes(metric)));
    this.lines = this.runs.flatMap((id, at) => this.metrics.map((metric, place) => ({ run: id, metric, ...course(held[at], metric), color: hue(this.runs.length > 1 && this.metrics.length === 1 ? at : place), dash: this.runs.length > 1 && this.metrics.length > 1 ? DASHES[at % 4] : undefined }))).filter((line) => line.steps.length);
    this.drawChoices();
    this.Plot ??= await library();
    this.redraw();
  }

  /** What to show first: metrics of findings, else a reward or the first that has a course. */
  main() {
    const long = this.seen.metrics.filter((one) => one.n > 1), found = long.filter((one) => one.severity === "critical" || one.severity === "warning");
    const usual = long.find((one) => /(rewards?|score)\/mean$|(^|\/)reward$/.test(one.key)) ?? long.find((one) => /loss|entropy/.test(one.key)) ?? long[0];
    return (found.length ? found : [usual]).filter(Boolean).slice(0, 2).map((one) => one.key);
  }

  drawChoices() {
    this.chips.replaceChildren(...this.metrics.map((metric, at) => h("span", { class: "chart-chip" }, this.swatch(this.runs.length > 1 && this.metrics.length === 1 ? null : at), h("code", {}, metric),
      iconButton("close", t("chart.remove", { metric }), () => { this.metrics = this.metrics.filter((one) => one !== metric); this.key = ""; this.show(this.run); }))));
    this.runBox.hidden = state.runs.length < 2;
    this.runBox.replaceChildren(...state.runs.map((run) => h("button", { type: "button", class: "pill", "aria-pressed": String(this.runs.includes(run.id)), title: run.name, on: { click: () => this.toggle(run.id) } }, this.runSign(run.id), h("span", { class: "clip" }, run.name))));
  }

  /** How lines of a run are told apart: by colour where there is one metric, else by their dashes. */
  runSign(id) {
    const at = this.runs.indexOf(id);
    if (at < 0 || this.runs.length < 2) return null;
    return this.metrics.length === 1 ? this.swatch(at) : h("i", { class: at ? "swatch dashed neutral" : "swatch neutral", "aria-hidden": "true" });
  }

  swatch(at, dash) {
    if (at === null) return null;
    return h("i", { class: `swatch hue-${at % 8}${dash ? " dashed" : ""}`, "aria-hidden": "true" });
  }

  toggle(id) {
    const left = this.runs.includes(id) ? this.runs.filter((one) => one !== id) : [...this.runs, id];
    if (!left.length) return;
    this.runs = left;
    this.key = "";
    this.show(this.run);
  }

  redraw() {
    if (!this.Plot || !this.lines || !this.holder.isConnected) return;
    for (const plot of this.plots ?? []) plot.destroy();
    this.plots = [];
    this.plot = null;
    this.holder.replaceChildren();
    const several = this.runs.length > 1 && this.metrics.length === 1;
    this.lines.forEach((line) => { line.hue = several ? this.runs.indexOf(line.run) : this.metrics.indexOf(line.metric); line.color = hue(line.hue); });
    const positive = (values) => (this.log ? values.map((value) => (value > 0 ? value : value === undefined ? undefined : null)) : values);
    const left = this.lines.reduce((sum, line) => sum + line.values.filter((value) => value !== null && value !== undefined && value <= 0).length, 0);
    const absent = this.lines.reduce((sum, line) => sum + line.values.filter((value) => value === null).length, 0);
    this.note.textContent = [this.log && left ? t("chart.leftOut", { n: left }) : "", absent ? t("chart.notFinite", { n: absent }) : ""].filter(Boolean).join(" ");
    if (!this.lines.length) { this.note.textContent = t("chart.empty"); this.legend.replaceChildren(); return; }
    const scale = scales(this.lines), drawn = [];
    for (const line of this.lines) {
      const values = positive(line.values), base = { ...line, scale: scale.get(line.metric) };
      if (this.weight > 0) drawn.push({ ...base, values, faint: true }, { ...base, values: smooth(values, this.weight) });
      else drawn.push({ ...base, values });
    }
    const data = joined(drawn);
    const marks = this.findings.map((one) => ({ step: one.onset, severity: one.severity }));
    if (typeof this.step === "number" && !marks.some((mark) => mark.step === this.step)) marks.push({ step: this.step, severity: "accent" });
    this.solid = drawn.map((line, at) => [line, at]).filter(([line]) => !line.faint);
    this.data = data;
    this.drawLegend();
    const height = Math.round(Math.max(220, Math.min(420, innerHeight * 0.42)));
    const options = { log: this.log, marks, onCursor: (at) => this.values(at) };
    const used = [...new Set(drawn.map((line) => line.scale))];
    if (used.length <= MOST_SCALES) this.plots = [draw(this.Plot, this.holder, data, drawn, { ...options, height })];
    else this.strips(data, drawn, used, options);
    this.plot = this.plots[0];
    keysOf(this.holder, this.plot);
    this.values(null);
  }

  /** A strip for each scale, one below the other over the same steps. */
  strips(data, drawn, used, options) {
    const peers = this.plots;
    used.forEach((scale, at) => {
      const mine = drawn.map((line, place) => [line, place + 1]).filter(([line]) => line.scale === scale), last = at === used.length - 1;
      const node = h("div", { class: "strip" });
      this.holder.append(h("div", { class: "strip-name" }, this.swatch(mine[0][0].hue), h("code", {}, mine[0][0].metric)), node);
      peers.push(draw(this.Plot, node, [data[0], ...mine.map(([, place]) => data[place])], mine.map(([line]) => line), { ...options, height: STRIP_HEIGHT + (last ? 26 : 0), strip: { peers, last } }));
    });
  }

  drawLegend() {
    const several = this.runs.length > 1;
    this.cells = [];
    this.stepCell = h("th", { scope: "col", class: "num" });
    this.legend.replaceChildren(h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("metrics.key")), several ? h("th", { scope: "col" }, t("run")) : null, this.stepCell)),
      h("tbody", {}, this.solid.map(([line, at]) => {
        const cell = h("td", { class: "num" });
        this.cells.push([cell, at + 1]);
        return h("tr", {}, h("th", { scope: "row" }, this.swatch(line.hue, line.dash), h("code", {}, line.metric)), several ? h("td", { class: "clip" }, state.runs.find((run) => run.id === line.run)?.name ?? line.run) : null, cell);
      })));
  }

  /** The values at the pointer; without it, at the marked step, else the last ones. */
  values(at) {
    const steps = this.data[0];
    let place = at;
    if (place === null || place === undefined) place = typeof this.step === "number" && steps.includes(this.step) ? steps.indexOf(this.step) : steps.length - 1;
    this.stepCell.textContent = `${t("step")} ${steps[place]}`;
    for (const [cell, column] of this.cells) cell.textContent = this.data[column][place] === undefined ? "" : figure(this.data[column][place] ?? "NaN");
  }

  resize() {
    const width = this.holder.clientWidth;
    for (const plot of this.plots ?? []) if (width && Math.abs(width - plot.width) > 2) plot.setSize({ width, height: plot.height });
  }
}
