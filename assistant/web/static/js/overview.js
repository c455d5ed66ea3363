// What was recognised of a run: its facts, findings, remarks.

import { h, icon } from "./dom.js";
import { count, figure, t } from "./i18n.js";
import { inline } from "./markdown.js";
import { tell } from "./store.js";

const SIGNS = { critical: "alert", warning: "alert", info: "info", ok: "check" };

/** A badge of a severity, in words as well as colour. */
export function badge(severity) {
  return h("span", { class: `badge ${severity}` }, icon(SIGNS[severity] ?? "info"), t(`severity.${severity}`));
}

export function overviewNode(seen) {
  const { run, facts = [], findings = [], warnings = [], metrics = [] } = seen;
  return h("div", { class: "overview" },
    h("dl", { class: "facts" },
      factRow(t("run.framework"), run.framework ?? run.format),
      run.steps?.length ? factRow(t("run.steps"), run.steps[0] === run.steps[1] ? String(run.steps[0]) : `${run.steps[0]} – ${run.steps[1]}`, t("run.rows", { n: run.n_steps })) : null,
      factRow(t("run.metrics"), count(run.n_metrics ?? metrics.length)),
      facts.filter((fact) => !["framework", "steps", "format", "n_steps", "n_metrics", "metrics"].includes(fact.name)).map((fact) => factRow(fact.label ?? fact.name, `${typeof fact.value === "string" ? fact.value : figure(fact.value)}${fact.unit ? ` ${fact.unit}` : ""}`))),
    h("h3", {}, t("run.findings"), " ", h("span", { class: "tally" }, findings.length ? count(findings.length) : "")),
    verdictNode(seen),
    findings.length ? h("ul", { class: "findings" }, findings.map((finding) => findingNode(finding, run))) : null,
    warnings.length ? [h("h3", {}, t("run.remarks")), h("ul", { class: "remarks" }, warnings.map((text) => h("li", {}, text)))] : null);
}

function factRow(label, value, more = "") {
  return h("div", {}, h("dt", {}, label), h("dd", {}, value, more ? h("small", {}, ` ${more}`) : null));
}

/** What the rules conclude as a whole; a green tick only where they know enough of the log to call it healthy. */
function verdictNode({ verdict, findings = [] }) {
  if (verdict?.code === "healthy") return h("p", { class: "calm" }, icon("check"), inline(h("span", {}), verdict.summary));
  if (verdict?.code === "insufficient_data") return h("p", { class: "calm unsure" }, icon("info"), inline(h("span", {}), verdict.summary));
  return findings.length ? null : h("p", { class: "calm unsure" }, icon("info"), t("run.noVerdict"));
}

/** Few words for a finding: its failure mode, else what kind of rule it broke and by which metric. */
function titleOf(finding) {
  if (finding.title) return [finding.title];
  const kind = /^(spike|threshold|identity)/.exec(finding.rule ?? "")?.[1], metric = finding.metrics?.[0];
  return [kind ? t(`rule.${kind}`) : metric ? "" : finding.rule, kind && metric ? " · " : null, metric ? h("code", {}, metric) : null];
}

/** A card of a finding: its title stands, the sentence that the answer says too unfolds. */
function findingNode(finding, run) {
  const onset = finding.onset ?? finding.steps?.[0] ?? null;
  const metrics = (finding.metrics ?? []).slice(0, 4);
  return h("li", { class: `finding ${finding.severity}` }, h("div", { class: "finding-head" }, badge(finding.severity), onset !== null ? h("span", { class: "onset" }, t("run.onset", { step: String(onset) })) : null),
    h("details", {}, h("summary", {}, h("span", { class: "finding-title" }, titleOf(finding))), inline(h("p", {}), finding.statement)),
    metrics.length ? h("button", { type: "button", class: "link", on: { click: () => tell("plot", { metrics, runs: [run.id], only: true, step: onset }) } }, icon("chart"), t("run.showInChart")) : null);
}
