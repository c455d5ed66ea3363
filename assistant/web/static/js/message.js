// One message of the conversation as nodes: a question with its text, or an answer with everything that belongs to it.

import { call, save } from "./api.js";
import { inlineCharts } from "./inline.js";
import { factName, factText, factValue, runsText, stepText } from "./facts.js";
import { add, h, icon, iconButton, openMenu, toast } from "./dom.js";
import { bytes, figure, t, when, whenExactly } from "./i18n.js";
import { small, taken } from "./markdown.js";
import { tell } from "./store.js";

const LONG_LINES = 12;
const KINDS = { healthy: "ok", improved: "ok", warning: "warning", regressed: "warning", mixed: "warning", critical: "critical" };

/** A question; long texts (a pasted log) are folded. */
export function questionNode(message, actions) {
  const lines = message.content.split("\n");
  const text = h("div", { class: "bubble-text" });
  const full = () => { text.textContent = message.content; };
  let more = null;
  if (lines.length > LONG_LINES || message.content.length > 1500) {
    text.textContent = `${lines.slice(0, 6).join("\n").slice(0, 700)}…`;
    more = h("button", { type: "button", class: "link", on: { click: () => { full(); more.remove(); } } }, t("message.showAll", { size: bytes(new Blob([message.content]).size) }));
  } else full();
  const node = h("article", { class: "message question", data: { id: message.id ?? "" }, "aria-label": t("message.yours") },
    h("div", { class: "bubble" }, text, more),
    h("div", { class: "tools" }, message.created ? h("time", { datetime: message.created, title: whenExactly(message.created) }, when(message.created)) : null,
      iconButton("copy", t("copy"), () => copy(message.content)),
      iconButton("edit", t("message.edit"), () => actions.edit(message, node), { class: "icon edit" })));
  return node;
}

/** An answer: `node`, and what a stream does to it. */
export class AnswerView {
  constructor(message, actions) {
    this.message = message;
    this.actions = actions;
    this.text = "";
    this.steps = new Map();
    this.nFacts = 0;
    this.body = h("div", { class: "prose" });
    this.work = h("div", { class: "work" });
    this.after = h("div", { class: "after" });
    this.node = h("article", { class: "message answer", data: { id: message.id ?? "", status: message.status ?? "" }, "aria-label": t("message.answer"), tabindex: "-1" }, this.work, this.body, this.after);
  }

  /** The dots of an answer that has not begun. */
  waiting(text = t("answer.working")) {
    if (!this.text) this.body.replaceChildren(h("p", { class: "thinking", role: "status" }, h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), text));
  }

  started(id) {
    this.message.id = id;
    this.node.dataset.id = id;
  }

  fact() { this.nFacts += 1; }

  step(data) {
    const key = data.id ?? `${data.name} ${JSON.stringify(data.arguments ?? {})}`;
    this.steps.set(key, { ...this.steps.get(key), ...data });
    this.drawSteps();
  }

  drawSteps() {
    const open = this.work.querySelector("details")?.open ?? false;
    this.work.replaceChildren(stepsNode([...this.steps.values()], open));
  }

  delta(text) {
    this.text += text;
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      if (!this.done) this.body.replaceChildren(small(this.text));
      tell("grown");
    });
  }

  note(text) {
    const old = this.after.querySelector(".reconnecting");
    old?.remove();
    if (text) this.after.prepend(h("p", { class: "notice reconnecting", role: "status" }, h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), text));
  }

  /** The finished answer; `html` is what the server made of its Markdown. */
  finish(answer, html) {
    this.done = true;
    if (this.due) cancelAnimationFrame(this.due);
    this.message.answer = answer;
    this.message.status ||= "done";
    this.node.dataset.status = this.message.status;
    this.node.removeAttribute("aria-busy");
    const content = html === null ? small(answer.answer) : taken(html);
    const cells = new Set((answer.facts ?? []).filter((fact) => fact.kind === "value").map((fact) => fact.id));
    for (const link of content.querySelectorAll?.("a[data-fact]") ?? []) if (cells.has(link.dataset.fact)) link.classList.add("cell");
    const head = content.querySelector?.("p strong");
    if (head && head.parentElement === content.firstElementChild && head.parentElement.childNodes.length === 1) {
      const kind = KINDS[answer.verdict?.code] ?? "plain";
      head.parentElement.className = `verdict ${kind}`;
      lede(head);
    }
    if ((answer.citations ?? []).length) { // they stand below, as links
      const last = content.lastElementChild;
      if (last?.tagName === "P" && /^(来源：|Sources: )/.test(last.textContent)) last.remove();
    }
    this.body.replaceChildren(content);
    const used = (answer.usage?.steps ?? []).length ? answer.usage.steps : [...this.steps.values()];
    this.work.replaceChildren(used.length ? stepsNode(used) : "");
    const charts = (answer.charts ?? []).length ? inlineCharts(answer) : null;
    this.after.replaceChildren();
    add(this.after, [charts, withheldNode(answer), warningsNode(answer), this.footer(answer)]);
  }

  stopped() {
    this.node.dataset.status = "stopped";
    this.done = true;
    if (!this.text && !this.message.answer) this.body.replaceChildren();
    else if (!this.message.answer) this.body.replaceChildren(small(this.text));
    this.after.replaceChildren(h("p", { class: "notice" }, icon("stop"), t("answer.stopped")), this.buttons());
  }

  failed(detail) {
    this.node.dataset.status = "failed";
    this.done = true;
    this.after.replaceChildren(h("div", { class: "notice error", role: "alert" }, icon("alert"), h("div", {}, h("strong", {}, t("answer.failed")), h("p", {}, detail || t("error.unknown")),
      h("button", { type: "button", class: "pill", on: { click: () => this.actions.again(this.message) } }, icon("redo"), t("retry")))));
    if (!this.text) this.body.replaceChildren();
  }

  buttons(answer = null) {
    return h("div", { class: "tools" },
      answer || this.text ? iconButton("copy", t("message.copyMarkdown"), () => copy(answer ? answer.answer : this.text)) : null,
      iconButton("redo", t("message.again"), () => this.actions.again(this.message)),
      answer ? iconButton("download", t("export.label"), (event) => this.menu(event.currentTarget, answer), { "aria-haspopup": "menu" }) : null);
  }

  menu(anchor, answer) {
    const name = `answer-${(this.message.id ?? "").slice(0, 8) || "1"}`;
    openMenu(anchor, [
      { icon: "doc", label: t("export.html"), act: () => this.actions.report() },
      { icon: "download", label: t("export.json"), act: () => save(JSON.stringify(answer, null, 2), `${name}.json`) },
      { icon: "download", label: t("export.markdown"), act: () => save(answer.answer, `${name}.md`, "text/markdown") },
    ]);
  }

  footer(answer) {
    const { grounding = { numbers: 0, supported: 0 }, usage = {} } = answer;
    const whole = grounding.supported >= grounding.numbers;
    const engine = answer.engine === "offline" ? t("engine.offline") : usage.model || answer.engine;
    const line = h("p", { class: "grounding" },
      grounding.numbers ? h("button", { type: "button", class: whole ? "traced" : "traced partly", "aria-expanded": "false", title: t("ground.show"), on: { click: (event) => this.ledger(event.currentTarget, answer) } }, icon("shield"), t("ground.traced", { n: grounding.numbers, a: grounding.supported })) : null,
      h("span", { class: "by" }, t("engine.by", { engine })),
      usage.seconds ? h("span", {}, t("seconds", { s: figure(usage.seconds, 2) })) : null,
      usage.cost_usd ? h("span", {}, `$${figure(usage.cost_usd, 2)}`) : null);
    const sources = (answer.citations ?? []).length ? h("ul", { class: "sources", "aria-label": t("answer.sources") }, answer.citations.map((c) => h("li", {}, h("a", { class: "source", href: `#${c.id}`, data: { card: c.card }, title: c.source }, h("b", {}, c.id), " ", c.title)))) : null;
    return h("footer", {}, sources, h("div", { class: "foot-row" }, line, this.buttons(answer)));
  }

  /** All facts of the answer in a table, on request. */
  ledger(button, answer) {
    const old = this.after.querySelector(".ledger");
    button.setAttribute("aria-expanded", String(!old));
    if (old) { old.remove(); return; }
    const several = new Set(answer.facts.map((fact) => fact.run).filter(Boolean)).size > 1;
    const rows = answer.facts.map((fact) => {
      const { label, key } = factName(fact);
      return h("tr", {}, h("td", {}, h("a", { class: "n", href: `#${fact.id}`, data: { fact: fact.id }, "aria-label": `${fact.id}: ${factText(fact)}` }, fact.id)),
        h("td", { class: "what" }, label ? h("span", {}, label) : null, label && key ? t("colon") : null, key ? h("code", {}, key) : null, several && runsText(fact) ? h("small", { class: "of" }, runsText(fact)) : null),
        h("td", { class: "num" }, stepText(fact)), h("td", { class: "num" }, factValue(fact)), h("td", { class: "num" }, fact.line ?? ""));
    });
    this.after.querySelector("footer").before(h("div", { class: "ledger table", tabindex: "0", role: "region", "aria-label": t("ground.ledger") }, h("table", {}, h("thead", {}, h("tr", {}, [["ground.id"], ["ground.what"], ["step", "num"], ["value", "num"], ["line", "num"]].map(([key, name]) => h("th", { scope: "col", class: name }, t(key))))), h("tbody", {}, rows))));
  }
}

function stepsNode(steps, open = false) {
  return h("details", { class: "steps", open }, h("summary", {}, t("steps.used", { n: steps.length })), h("ol", {}, steps.map((step) => h("li", {},
    h("details", {}, h("summary", {}, h("code", {}, step.name ?? "tool"), step.result === undefined || step.result === null ? h("span", { class: "soft" }, " …") : null),
      h("dl", {}, h("dt", {}, t("steps.arguments")), h("dd", {}, h("pre", { tabindex: "0" }, pretty(step.arguments))), step.result === undefined ? null : [h("dt", {}, t("steps.result")), h("dd", {}, h("pre", { tabindex: "0" }, pretty(step.result)))]))))));
}

/** The first sentence of the answer stands out; what follows it is plain. */
function lede(strong) {
  const first = document.createElement("b"), nodes = [...strong.childNodes];
  let ended = false;
  for (const node of nodes) {
    const end = !ended && node.nodeType === Node.TEXT_NODE ? /。|[.!?](?= [A-Z])/.exec(node.data) : null;
    if (ended) strong.parentElement.append(node);
    else if (end) {
      const rest = node.splitText(end.index + 1);
      first.append(node);
      ended = true;
      strong.parentElement.append(rest);
    } else first.append(node);
  }
  strong.replaceWith(first);
}

const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? {}, null, 1));

function withheldNode(answer) {
  const held = answer.grounding?.unsupported ?? [];
  if (!held.length) return null;
  return h("details", { class: "notice warning" }, h("summary", {}, icon("shield"), t("ground.withheld", { n: held.length })), h("p", {}, t("ground.why")), h("ul", {}, held.map((text) => h("li", {}, typeof text === "string" ? text : pretty(text)))));
}

function warningsNode(answer) {
  const list = answer.warnings ?? [];
  if (!list.length) return null;
  const items = list.map((text) => h("li", {}, text));
  if (list.length === 1) return h("p", { class: "notice" }, icon("info"), h("span", {}, list[0]));
  return h("details", { class: "notice" }, h("summary", {}, icon("info"), t("answer.remarks", { n: list.length })), h("ul", {}, items));
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or not a secure address
    const area = h("textarea", { class: "sr", value: text, "aria-hidden": "true" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(t("copied"));
}

/** The server's HTML of answers; `null` for all where it cannot be had: the small Markdown does then. */
export async function rendered(answers) {
  if (!answers.length) return [];
  try {
    const pieces = answers.map(({ answer, mentions = [], citations = [] }) => ({ text: answer, mentions, citations: citations.map(({ id, card }) => ({ id, card })) }));
    return (await call("POST", "/page/render", { json: { pieces } })).html;
  } catch { return answers.map(() => null); }
}

