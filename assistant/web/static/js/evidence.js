// Where a number comes from: its cell among its neighbours, its line in the log, what it was computed from, its card.

import { get } from "./api.js";
import { add, h, icon } from "./dom.js";
import { figure, lang, t } from "./i18n.js";
import { small } from "./markdown.js";
import { basisText, factName, factText, factValue, formulaText, runsText, stepText } from "./facts.js";
import { spark } from "./spark.js";
import { overview, series, state, tell } from "./store.js";

const AROUND = 3, CONTEXT = 3, LONGEST = 240;
const cards = new Map();
let turn = 0;

/** Fills the view with the fact or card that was chosen. */
export async function evidence(node, view) {
  const mine = (turn += 1);
  if (!view.fact && !view.card) {
    node.replaceChildren(h("div", { class: "empty" }, icon("shield"), h("p", {}, t("evidence.none"))));
    return;
  }
  const { fact } = view;
  const places = { cell: h("section", { class: "cell" }), line: h("section", { class: "log" }), how: h("section", { class: "how" }), card: h("section", { class: "card" }) };
  node.replaceChildren(...(fact ? [heading(fact), places.how, places.cell, places.line] : []), places.card);
  node.scrollTop = 0;
  if (fact) how(places.how, fact, view.answer);
  const key = fact ? fact.metric ?? (fact.kind === "share" ? fact.name : null) : null;
  const jobs = [showCard(places.card, view.card ?? fact?.card ?? null, key, fact?.run)];
  if (fact?.run && key && state.runs.some((run) => run.id === fact.run)) jobs.push(showCell(places.cell, fact, key).then(async (lines) => {
    for (const line of fact.line ? [] : lines) await showLine(places.line, { ...fact, metric: key, line });
  }));
  if (fact?.run && fact.line) jobs.push(showLine(places.line, fact));
  for (const done of await Promise.allSettled(jobs)) if (done.status === "rejected" && mine === turn) node.append(h("p", { class: "notice" }, icon("info"), done.reason.message));
}

function heading(fact) {
  const { label, key } = factName(fact);
  return h("header", { class: "evidence-head" }, h("p", { class: "kind" }, t(`kind.${fact.kind}`), " · ", fact.id, state.runs.length > 1 && runsText(fact) ? ` · ${runsText(fact)}` : ""),
    h("h3", {}, label, label && key ? t("colon") : null, key ? h("code", {}, key) : null), h("p", { class: "big" }, h("span", {}, factValue(fact))),
    h("p", { class: "soft" }, stepText(fact) !== "" ? `${t("step")} ${stepText(fact)}` : "", fact.line ? ` · ${t("lineN", { line: String(fact.line) })}` : ""),
    fact.kind === "value" && typeof fact.value === "number" ? h("p", { class: "soft" }, t("evidence.exact"), " ", h("code", {}, String(fact.value))) : null);
}

/** The arithmetic of a derived fact, its inputs one click away; the figures of a change or a trend. */
function how(node, fact, answer) {
  const rows = [];
  if (fact.formula) rows.push([t("evidence.formula"), h("code", { class: "formula" }, formulaText(fact.formula))]);
  if (fact.kind === "share") rows.push([t("evidence.formula"), h("code", { class: "formula" }, `${fact.name} / ${fact.of}`)]);
  if (fact.inputs?.length) rows.push([t("evidence.inputs"), h("ul", { class: "inputs" }, fact.inputs.map((id) => {
    const input = answer?.facts.find((one) => one.id === id);
    return h("li", {}, h("a", { class: "n", href: `#${id}`, data: { fact: id } }, input ? factValue(input) : id), input ? h("span", { class: "of" }, factText(input)) : null);
  }))]);
  if (fact.kind === "change") {
    rows.push([t("evidence.change"), figure(fact.delta)]);
    rows.push([t("evidence.noise"), fact.noise === null || fact.noise === undefined ? t("evidence.unknown") : `± ${figure(fact.noise, 3)}${basisText(fact.noise_basis) ? ` (${basisText(fact.noise_basis)})` : ""}`]);
    rows.push([t("evidence.significant"), fact.significant === null || fact.significant === undefined ? t("evidence.unknown") : t(fact.significant ? "yes" : "no")]);
  }
  if (fact.kind === "trend") {
    rows.push([t("evidence.slope"), `${figure(fact.slope_per_step, 3)}${fact.low !== undefined && fact.high !== undefined ? ` [${figure(fact.low, 3)}, ${figure(fact.high, 3)}]` : ""}`]);
    rows.push([t("evidence.points"), String(fact.n ?? "")], ["p", fact.p_value === null ? t("evidence.unknown") : figure(fact.p_value, 2)]);
  }
  if (fact.reason) rows.push([t("evidence.reason"), fact.reason]);
  if (rows.length) node.append(h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))));
}

const stepsOf = (fact) => [fact.step, fact.from_step, fact.to_step, fact.first_step, fact.last_step].filter((step) => typeof step === "number");

/** The cells around a fact's; gives the lines of those that it speaks of, where it names no line itself. */
async function showCell(node, fact, key) {
  const held = await series(fact.run, [key]);
  const rows = held.steps.map((step, at) => ({ step, line: held.lines?.[at], value: held.series[key]?.[at] })).filter((row) => row.value !== null && row.value !== undefined);
  if (!rows.length) return [];
  const steps = stepsOf(fact), lit = new Set(steps);
  const centre = rows.findIndex((row) => lit.has(row.step));
  const from = Math.max(0, Math.min(centre < 0 ? 0 : centre - AROUND, rows.length - 2 * AROUND - 1));
  let near = rows.slice(from, from + 2 * AROUND + 1);
  if (fact.kind === "change" || fact.kind === "trend") near = [...new Set([...rows.filter((row) => lit.has(row.step)), ...near])].sort((a, b) => a.step - b.step).slice(0, 9);
  const numbers = rows.map((row) => (typeof row.value === "number" ? row.value : null));
  const mark = rows.findLastIndex((row) => row.step === (fact.to_step ?? fact.step ?? fact.last_step));
  add(node, [h("h4", {}, t("evidence.cell")),
    rows.length > 1 ? h("button", { type: "button", class: "figure plain", "aria-label": t("charts.open", { metric: key }), on: { click: () => tell("plot", { metrics: [key], runs: [fact.run], only: true, step: steps.at(-1) }) } }, spark(numbers, { width: 400, height: 64, mark, className: "spark wide" }), h("span", { class: "link" }, icon("chart"), t("run.showInChart"))) : null,
    h("div", { class: "table", tabindex: "0", role: "region", "aria-label": t("evidence.cell") }, h("table", { class: "cells" },
      h("thead", {}, h("tr", {}, h("th", { scope: "row" }, t("step")), near.map((row) => h("th", { scope: "col", class: lit.has(row.step) ? "lit num" : "num" }, String(row.step))))),
      h("tbody", {}, h("tr", {}, h("th", { scope: "row" }, h("code", {}, key.split("/").slice(-2).join("/"))), near.map((row) => h("td", { class: lit.has(row.step) ? "lit num" : "num", "aria-current": lit.has(row.step) ? "true" : null }, figure(row.value)))))))]);
  return [...new Set(near.filter((row) => lit.has(row.step) && row.line).map((row) => row.line))].slice(0, 2);
}

/** The line of the log, its neighbours, and the value in it. */
async function showLine(node, fact) {
  let body;
  try { body = await get(`/sessions/${state.session.id}/runs/${fact.run}/lines?around=${fact.line}&context=${CONTEXT}`); } catch (error) {
    node.append(h("h4", {}, t("lineN", { line: String(fact.line) })), h("p", { class: "soft" }, error.message));
    return;
  }
  node.append(h("h4", {}, t("evidence.line", { line: String(fact.line) })), h("ol", { class: "lines", tabindex: "0", role: "region", "aria-label": t("evidence.line", { line: String(fact.line) }) }, body.lines.map((line) => {
    const lit = line.n === fact.line;
    const row = h("li", { class: lit ? "lit" : null, value: String(line.n), "aria-current": lit ? "true" : null });
    row.append(h("span", { class: "n-line", "aria-hidden": "true" }, String(line.n)), lit ? marked(line.text, fact) : h("span", { class: "line-text" }, line.text.slice(0, LONGEST)));
    return row;
  })));
}

function marked(text, fact) {
  const node = h("span", { class: "line-text" });
  const key = fact.metric ?? "";
  let at = key ? text.indexOf(key) : -1;
  while (at > 0 && /[\w/@-]/.test(text[at - 1] ?? "") ) at = text.indexOf(key, at + 1);
  if (at < 0) { node.append(text.slice(0, LONGEST)); return node; }
  const rest = text.slice(at + key.length), number = /^['"]?\s*[:=]\s*(?:np\.\w+\()?\s*([-+]?(?:\d[\d.,]*(?:[eE][-+]?\d+)?|nan|inf))/.exec(rest);
  const end = number ? at + key.length + number[0].length : at + key.length;
  const from = Math.max(0, at - 120);
  add(node, [from ? "…" : "", text.slice(from, at), h("mark", {}, text.slice(at, end)), text.slice(end, end + 120)]);
  return node;
}

async function showCard(node, card, key, run) {
  let name = card;
  if (!name && key && run) {
    try { name = (await overview(run)).metrics.find((one) => one.key === key)?.card ?? null; } catch { return; }
  }
  if (!name) return;
  if (!cards.has(name)) cards.set(name, get(`/metrics-docs/${name.split("/").map(encodeURIComponent).join("/")}`));
  let body;
  try { body = await cards.get(name); } catch (error) { cards.delete(name); if (error.status === 404 || error.status === 422) return; throw error; }
  const language = lang();
  if (typeof body.text === "string") { node.append(h("h4", {}, body.title), small(body.text)); return; }
  const title = body.title[language] ?? body.title.en, sections = Object.entries(body.text?.[language] ?? {});
  add(node, [h("h4", {}, t("evidence.card")), h("h3", {}, title), h("p", {}, body.short?.[language] ?? ""),
    h("dl", { class: "facts" }, [[t("evidence.formula"), body.formula && h("code", { class: "formula" }, body.formula)], [t("evidence.unit"), body.unit], [t("evidence.keys"), (body.keys ?? []).slice(0, 6).map((one) => h("code", {}, one, " "))]].filter(([, value]) => value && value.length !== 0).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)))),
    sections.map(([label, text], at) => h("details", { open: at < 2 }, h("summary", {}, label), small(text))),
    h("p", { class: "soft small" }, t("evidence.source"), " ", body.source ?? "")]);
}
