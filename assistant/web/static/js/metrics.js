// The table of a run's metrics: searched, grouped, with a small picture each.

import { h, icon } from "./dom.js";
import { count, figure, t } from "./i18n.js";
import { badge } from "./overview.js";
import { spark } from "./spark.js";
import { tell } from "./store.js";

const CHUNK = 80;
const ORDER = { critical: 0, warning: 1, info: 2 };

export class MetricTable {
  constructor() {
    this.node = h("div", { class: "metrics" });
    this.query = "";
    this.onlyFound = false;
    this.build();
  }

  build() {
    this.field = h("input", { type: "search", class: "field", autocomplete: "off", spellcheck: "false", "aria-label": t("metrics.search"), placeholder: t("metrics.search"), value: this.query, on: { input: () => { this.query = this.field.value; this.draw(); } } });
    this.filter = h("button", { type: "button", class: "pill", "aria-pressed": String(this.onlyFound), on: { click: () => { this.onlyFound = !this.onlyFound; this.filter.setAttribute("aria-pressed", String(this.onlyFound)); this.draw(); } } }, icon("alert"), t("metrics.onlyFindings"));
    this.tally = h("p", { class: "soft tally-line", role: "status" });
    this.body = h("tbody");
    this.frame = h("div", { class: "metric-scroll", tabindex: "0", role: "region", "aria-label": t("panel.metrics") }, h("table", {}, h("thead", {}, h("tr", {}, [["metrics.key"], ["metrics.course"], ["metrics.last", "num"], ["metrics.range", "num wide-only"]].map(([key, name]) => h("th", { scope: "col", class: name }, t(key))))), this.body));
    this.node.replaceChildren(h("div", { class: "metric-tools" }, this.field, this.filter), this.tally, this.frame);
    this.frame.addEventListener("scroll", () => { if (this.frame.scrollTop + this.frame.clientHeight > this.frame.scrollHeight - 400) this.more(); }, { passive: true });
  }

  relabel() { this.build(); this.drawn = null; }

  search(text) { this.query = text; this.field.value = text; this.drawn = null; }

  show(run, metrics, fact) {
    const lit = fact && fact.run === run ? fact.metric ?? null : null;
    const same = this.drawn === metrics && this.lit === lit;
    Object.assign(this, { run, metrics, lit });
    if (!same) this.draw();
    this.drawn = metrics;
    if (lit) this.reveal(lit);
  }

  draw() {
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    let list = (this.metrics ?? []).filter((one) => words.every((word) => `${one.key} ${one.title ?? ""} ${one.category ?? ""}`.toLowerCase().includes(word)));
    if (this.onlyFound) list = list.filter((one) => one.severity);
    const groups = new Map();
    for (const one of list) {
      const name = one.category || "misc";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(one);
    }
    const worst = (items) => Math.min(...items.map((one) => ORDER[one.severity] ?? 3));
    this.rows = [...groups].sort(([, a], [, b]) => worst(a) - worst(b)).flatMap(([name, items]) => [{ group: name, n: items.length }, ...items.sort((a, b) => (ORDER[a.severity] ?? 3) - (ORDER[b.severity] ?? 3))]);
    this.next = 0;
    this.body.replaceChildren();
    this.frame.scrollTop = 0;
    this.tally.textContent = list.length ? t("metrics.tally", { n: list.length }) : t("metrics.none");
    this.more();
  }

  more() {
    const until = Math.min(this.rows.length, this.next + CHUNK);
    for (; this.next < until; this.next += 1) this.body.append(this.row(this.rows[this.next]));
  }

  row(one) {
    if (one.group) return h("tr", { class: "group" }, h("th", { colspan: "3", scope: "rowgroup" }, categoryName(one.group), h("small", {}, count(one.n))), h("td", { class: "wide-only" }));
    const unit = one.unit && one.unit !== "1" ? h("small", { class: "unit" }, one.unit) : null;
    const act = () => tell("plot", { metrics: [one.key], runs: [this.run], only: true });
    return h("tr", { class: one.key === this.lit ? "lit" : null, data: { key: one.key } },
      h("td", {}, h("span", { class: "metric-line" }, h("button", { type: "button", class: "metric", title: t("charts.open", { metric: one.key }), on: { click: act } }, h("code", {}, one.key)), one.severity ? badge(one.severity) : null), one.title && one.title !== one.key ? h("span", { class: "metric-title" }, one.card ? h("a", { href: "#card", class: "source", data: { card: one.card } }, one.title) : one.title, unit) : unit),
      h("td", { class: "course" }, spark((one.spark ?? []).map((value) => (typeof value === "number" ? value : null)), { width: 96, height: 26 })),
      h("td", { class: "num" }, figure(one.last, 3)),
      h("td", { class: "num wide-only" }, h("span", {}, figure(one.min, 3)), " – ", h("span", {}, figure(one.max, 3))));
  }

  reveal(key) {
    const at = this.rows.findIndex((one) => one.key === key);
    if (at < 0) { if (this.query || this.onlyFound) { this.query = this.field.value = ""; this.onlyFound = false; this.draw(); if (this.rows.some((one) => one.key === key)) this.reveal(key); } return; }
    while (this.next <= at) this.more();
    requestAnimationFrame(() => this.body.querySelector(`tr[data-key="${CSS.escape(key)}"]`)?.scrollIntoView({ block: "center" }));
  }
}

function categoryName(name) {
  const text = t(`category.${name}`);
  return text.startsWith("category.") ? name : text;
}
