// Facts of an answer in words: what a number is called, where it stands, what it is. Internal ids are never shown.

import { figure, figures, known, t } from "./i18n.js";
import { state } from "./store.js";

export const runName = (id) => state.runs.find((run) => run.id === id)?.name ?? id;

/** Names end in what tells one fact from another inside the engine: another fact's id, a stretch of steps, a scale. */
const TAIL = /\/(?:E\d+|-?\d+-\d+|linear|log)$/;
const STRETCH = /(?:^|\/)(-?\d+)-(\d+)(?=\/|$)/;
const RUN = /^r\d+$/;
/** Quantities whose name goes on with a code of the engine (a rule, a reason), not with a key of the log. */
const CODED = new Set(["correlation_allowed", "limit", "checked_steps", "failing_steps", "slowdown"]);
const CALL = /^(\w+)\((.+)\)$/;

/**
 * What a fact is called.
 *
 * @returns `{label, key}`: words of this language, and the log's key they are about; either may be empty.
 */
export function factName(fact) {
  if (fact.kind === "share") return { label: t("fact.share", { of: fact.of }), key: fact.name };
  if (fact.kind === "missing") return fact.metric ? { label: "", key: fact.metric } : { label: words(fact.name ?? "missing"), key: "" };
  if (fact.kind !== "derived") return { label: "", key: fact.metric ?? fact.name ?? t(`kind.${fact.kind}`) };
  let name = fact.name ?? "";
  while (TAIL.test(name)) name = name.replace(TAIL, "");
  const call = CALL.exec(name);
  if (call) return { label: words(call[1]), key: call[2] };
  const at = name.indexOf("/"), head = at < 0 ? name : name.slice(0, at), after = at < 0 ? "" : name.slice(at + 1);
  const rest = RUN.test(after) || CODED.has(head) ? "" : after; // a run is told beside it
  const sampled = /^(se_mean|se_best)@(\d+)$/.exec(head);
  if (sampled) return { label: t("fact.se_mean", { k: sampled[2] }), key: rest };
  if (name === fact.metric) return { label: "", key: name };
  return { label: words(head), key: fact.metric ?? rest };
}

/** An engine's name as words: the translated one where there is one, else its own without underscores. */
function words(name) {
  const id = name.replaceAll(" ", "_");
  return known(`fact.${id}`) ? t(`fact.${id}`) : name.replaceAll("_", " ");
}

/** A fact's name as one text, for titles and screen readers. */
export function factText(fact) {
  const { label, key } = factName(fact);
  return [label, key].filter(Boolean).join(t("colon"));
}

/** The steps that a fact speaks of: one, a stretch, or the two ends of a change; empty where it speaks of none. */
export function stepText(fact) {
  const { kind } = fact;
  if (kind === "change") {
    if (whole(fact.from_step) && whole(fact.to_step)) return `${fact.from_step} → ${fact.to_step}`;
    const sides = [...(fact.formula ?? "").matchAll(/ at steps? (-?\d+(?:[–-]\d+)?)/g)].map((match) => match[1]);
    return sides.length > 1 && sides[0] !== sides[1] ? `${sides[1]} → ${sides[0]}` : sides[0] ?? "";
  }
  if (whole(fact.first_step) && whole(fact.last_step)) return stretch(fact.first_step, fact.last_step);
  if (whole(fact.step)) return String(fact.step);
  const found = kind === "derived" ? STRETCH.exec(fact.name ?? "") : null;
  return found ? stretch(found[1], found[2]) : "";
}

const whole = (value) => typeof value === "number";
const stretch = (first, last) => (String(first) === String(last) ? String(first) : `${first}–${last}`);

/** A fact's value as it is shown: with as many digits as tell both ends of a change apart. */
export function factValue(fact) {
  if (fact.kind === "change") return figures([fact.from, fact.to], 4).join(" → ");
  if (fact.kind === "trend") return t(`direction.${fact.direction}`);
  if (fact.kind === "missing") return t("missing");
  return `${figure(fact.value)}${fact.unit && fact.unit !== "fraction" ? ` ${fact.unit}` : ""}`;
}

/** The run that a fact is about, or the two that a change compares; empty for what belongs to no run (a level of confidence). */
export function runsText(fact) {
  const ids = [...new Set([...(fact.formula ?? "").matchAll(/\b(r\d+):/g)].map((match) => match[1]))].reverse();
  if (fact.kind === "change" && ids.length === 2) return ids.map(runName).join(" → ");
  return fact.run && (factName(fact).key || stepText(fact)) ? runName(fact.run) : "";
}

/** How a change's noise was found, in words. */
export const basisText = (basis) => (known(`basis.${basis}`) ? t(`basis.${basis}`) : "");

/** A formula with the runs' names in the place of their ids. */
export const formulaText = (formula) => formula.replace(/\b(r\d+):/g, (all, id) => (state.runs.some((run) => run.id === id) ? `${runName(id)}: ` : all));
