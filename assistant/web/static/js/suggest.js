// What to ask next: questions that the attached runs can really answer, by the metrics they hold.

import { t } from "./i18n.js";
import { overview, state } from "./store.js";

const MOST = 3;
const MAIN = [/(^|\/)(rewards?|score)(\/mean)?$|rewards?\/mean$/, /entropy/, /grad_norm|grad-norm/, /(ppo_kl|approx_kl|(^|\/)kl)$/, /response_length\/mean|completion_length|completions\/mean_length/, /(^|\/)loss$/];

/** Up to three questions; not those asked already, and of other kinds than the last answer first. */
export async function suggestions(last, asked) {
  const run = state.runs[0];
  if (!run) return [];
  let seen;
  try { seen = await overview(run.id); } catch { return []; }
  const metrics = seen.metrics ?? [], names = new Set((seen.facts ?? []).map((fact) => fact.name));
  const long = metrics.filter((one) => one.n >= 3 && one.first !== null);
  const main = MAIN.map((pattern) => long.find((one) => pattern.test(one.key))?.key).filter(Boolean);
  const slot = last?.slots?.metrics?.find((key) => metrics.some((one) => one.key === key && one.card));
  const found = [...(last?.suggestions ?? []).map((text) => ["own", text])];
  if (state.runs.length > 1) found.push(["compare", t("suggest.runs")]);
  if (slot && last.intent !== "define") found.push(["define", t("suggest.define", { metric: slot })]);
  found.push(["health", t("suggest.health")]);
  if (main[0]) found.push(["trend", t("suggest.trend", { metric: main[0] })]);
  if (metrics.some((one) => /^(timing_s|timing|time)\//.test(one.key))) found.push(["bottleneck", t("suggest.time")]);
  if (names.has("n_gpus")) found.push(["derive", t("suggest.setup")]);
  if (metrics.some((one) => /^val/.test(one.key))) found.push(["validation", t("suggest.validation")]);
  for (const metric of main.slice(1)) found.push(["trend", t("suggest.trend", { metric })]);
  const fresh = found.filter(([kind, text]) => kind !== last?.intent && !asked.includes(text));
  return [...new Set(fresh.map(([, text]) => text))].slice(0, MOST);
}
