// The right side: the run that is looked at, in four views.

import { $, h, icon, iconButton, openMenu, toast } from "./dom.js";
import { call } from "./api.js";
import { line } from "./dialog.js";
import { ChartView } from "./chartview.js";
import { evidence } from "./evidence.js";
import { MetricTable } from "./metrics.js";
import { recall, remember, t } from "./i18n.js";
import { overviewNode } from "./overview.js";
import { on, overview, setRuns, state } from "./store.js";

const panel = $("panel"), opener = $("panel-open"), veil = $("veil");
const LONGEST_NAME = 255; // characters that the API takes
const VIEWS = ["overview", "metrics", "chart", "evidence"];
const view = { run: null, tab: "overview", fact: null, answer: null, wide: false };
let table = null, chart = null; // made when strings are there
let pages = {};

export const isNarrow = () => matchMedia("(max-width: 1199px)").matches;

export function openPanel(tab, { focus = false } = {}) {
  if (!state.runs.length) return;
  if (tab) view.tab = tab;
  const was = panel.hidden;
  if (was) view.from = document.activeElement;
  panel.hidden = false;
  opener.setAttribute("aria-expanded", "true");
  document.body.classList.add("with-panel");
  if (isNarrow()) { veil.hidden = false; panel.setAttribute("role", "dialog"); panel.setAttribute("aria-modal", "true"); $("main").inert = true; $("side").inert = true; }
  else { panel.removeAttribute("role"); panel.removeAttribute("aria-modal"); }
  draw();
  if (focus || (was && isNarrow())) panel.querySelector('[role="tab"][aria-selected="true"]')?.focus();
}

export function closePanel() {
  if (panel.hidden) return false;
  const within = panel.contains(document.activeElement);
  panel.hidden = true;
  veil.hidden = true;
  $("main").inert = false;
  $("side").inert = false;
  opener.setAttribute("aria-expanded", "false");
  document.body.classList.remove("with-panel");
  if (within) (view.from?.isConnected && view.from !== document.body ? view.from : opener).focus();
  return true;
}

function views() {
  table ??= new MetricTable();
  chart ??= new ChartView();
}

function skeleton() {
  views();
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": t("panel.title") }, VIEWS.map((name) => h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}`, on: { click: () => show(name) },
  }, t(`panel.${name}`))));
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    show(VIEWS[(VIEWS.indexOf(view.tab) + step + VIEWS.length) % VIEWS.length]);
    $(`tab-${view.tab}`).focus();
  });
  pages = Object.fromEntries(VIEWS.map((name) => [name, h("div", { class: `view view-${name}`, role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "0" })]));
  pages.metrics.append(table.node);
  pages.chart.append(chart.node);
  panel.replaceChildren(h("div", { class: "panel-head" }, h("div", { class: "run-pick", id: "run-pick" }),
    iconButton("expand", t("panel.wide"), toggleWide, { class: "icon only-wide", "aria-pressed": String(view.wide) }), iconButton("close", t("close"), closeByHand)), tabs, ...Object.values(pages));
}

function toggleWide(event) {
  view.wide = !view.wide;
  document.body.classList.toggle("panel-wide", view.wide);
  event.currentTarget.setAttribute("aria-pressed", String(view.wide));
  chart.resize();
}

function closeByHand() {
  remember("panel", "closed");
  closePanel();
}

function pickRun() {
  const node = $("run-pick");
  const run = state.runs.find((one) => one.id === view.run);
  node.replaceChildren(h("button", { type: "button", class: "run-name", "aria-haspopup": "menu", "aria-expanded": "false", title: run?.name, on: { click: (event) => openMenu(event.currentTarget, [
    ...state.runs.map((one) => ({ icon: one.id === view.run ? "check" : "doc", label: one.name, act: () => choose(one.id) })),
    ...(run ? [{ icon: "edit", label: t("runs.rename"), act: () => renameRun(run) }, { icon: "trash", label: t("runs.remove"), danger: true, act: () => removeRun(run) }] : []),
  ]) } }, icon("doc"), h("span", {}, run?.name ?? ""), state.runs.length > 1 ? h("small", {}, t("runs.of", { a: state.runs.indexOf(run) + 1, n: state.runs.length })) : null));
}

async function renameRun(run) {
  await line(t("runs.rename"), "", { value: run.name, most: LONGEST_NAME, act: async (name) => {
    await call("PATCH", `/sessions/${state.session.id}/runs/${run.id}`, { json: { name } });
    setRuns(state.runs.map((one) => (one.id === run.id ? { ...one, name } : one)));
  } });
}

async function removeRun(run) {
  try {
    await call("DELETE", `/sessions/${state.session.id}/runs/${run.id}`);
    setRuns(state.runs.filter((one) => one.id !== run.id));
  } catch (error) { toast(error.message, { error: true }); }
}

function choose(run) {
  view.run = run;
  draw();
}

export function show(tab) {
  view.tab = tab;
  draw();
}

async function draw() {
  if (panel.hidden || !state.runs.length) return;
  if (!state.runs.some((one) => one.id === view.run)) view.run = state.runs[0].id;
  if (!pages.overview || !panel.contains(pages.overview)) skeleton();
  pickRun();
  for (const name of VIEWS) {
    const tab = $(`tab-${name}`), chosen = name === view.tab;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    pages[name].hidden = !chosen;
  }
  const run = view.run;
  try {
    if (view.tab === "evidence") { await evidence(pages.evidence, view); return; }
    if (!pages[view.tab].childElementCount) pages[view.tab].append(h("p", { class: "thinking" }, t("loading")));
    const seen = await overview(run);
    if (run !== view.run) return;
    if (view.tab === "overview") pages.overview.replaceChildren(overviewNode(seen));
    else if (view.tab === "metrics") table.show(run, seen.metrics, view.fact);
    else await chart.show(run);
  } catch (error) {
    if (run !== view.run) return;
    const retry = () => { node.remove(); draw(); };
    const node = h("div", { class: "notice error", role: "alert" }, icon("alert"), h("div", {}, h("p", {}, error.message), h("button", { type: "button", class: "pill", on: { click: retry } }, icon("redo"), t("retry"))));
    const page = pages[view.tab]; // a table or chart that stands there stays
    page.querySelectorAll(":scope > .notice, :scope > .thinking").forEach((old) => old.remove());
    if (view.tab === "overview" || view.tab === "evidence") page.replaceChildren(node);
    else page.prepend(node);
  }
}

/** A number was clicked: its cell, line and card are lit. */
export function showFact(fact, answer) {
  views();
  view.fact = fact;
  view.answer = answer;
  view.card = null;
  if (fact.run && state.runs.some((run) => run.id === fact.run)) view.run = fact.run;
  chart.marked(fact);
  openPanel("evidence");
}

export function showCard(card) {
  view.fact = null;
  view.card = card;
  openPanel("evidence");
}

export function install() {
  opener.addEventListener("click", () => { if (panel.hidden) { remember("panel", "open"); openPanel(null, { focus: true }); } else closeByHand(); });
  veil.addEventListener("click", () => closePanel());
  on("runs", () => {
    opener.hidden = !state.runs.length;
    if (!state.runs.length) { closePanel(); chart?.reset(); return; }
    chart?.runsChanged();
    if (panel.hidden && !isNarrow() && recall("panel") !== "closed") openPanel();
    else draw();
  });
  on("opened", () => { Object.assign(view, { run: null, fact: null, answer: null, card: null, tab: "overview" }); chart?.reset(); draw(); });
  on("plot", ({ metrics, runs, only, step }) => {
    if (runs?.[0] && state.runs.some((run) => run.id === runs[0])) view.run = runs[0];
    views();
    chart.choose(metrics, { runs, only, step });
    openPanel("chart");
  });
  matchMedia("(max-width: 1199px)").addEventListener("change", () => { closePanel(); if (!isNarrow() && recall("panel") !== "closed") openPanel(); });
}

export function relabel() {
  if (!pages.overview) return;
  const open = !panel.hidden;
  table.relabel();
  chart.relabel();
  pages = {};
  if (open) draw();
}
