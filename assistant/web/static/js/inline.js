// The charts of an answer, in line: one small card a metric, which opens in the large chart.

import { h } from "./dom.js";
import { figure, figures, t } from "./i18n.js";
import { add, spark, thinned } from "./spark.js";
import { tell } from "./store.js";

const SHOWN = 6, WIDTH = 200, HEIGHT = 56, POINTS = 160, MOST_RUNS = 4;

/** Cards of the metrics that an answer's charts hold; `null` where nothing has two points. */
export function inlineCharts(answer) {
  const metrics = new Map();
  for (const chart of answer.charts) {
    for (const series of chart.series) {
      if (!metrics.has(series.metric)) metrics.set(series.metric, new Map());
      metrics.get(series.metric).set(series.run, series);
    }
  }
  const cards = [...metrics].filter(([, runs]) => [...runs.values()].some((one) => one.values.length > 1)).map(([metric, runs]) => card(metric, [...runs.values()]));
  if (!cards.length) return null;
  const holder = h("div", { class: "figures", role: "group", "aria-label": t("charts") }, cards.slice(0, SHOWN));
  if (cards.length > SHOWN) {
    const more = h("button", { type: "button", class: "link", on: { click: () => { holder.append(...cards.slice(SHOWN)); more.remove(); } } }, t("charts.more", { n: cards.length - SHOWN }));
    return h("div", {}, holder, more);
  }
  return holder;
}

function card(metric, series) {
  const finite = series.flatMap((one) => one.values).filter((value) => typeof value === "number");
  const extent = [Math.min(...finite), Math.max(...finite)];
  const steps = series.flatMap((one) => [one.steps[0], one.steps.at(-1)]).filter((step) => step !== undefined), span = [Math.min(...steps), Math.max(...steps)];
  const shown = series.slice(0, MOST_RUNS), last = series[0].values.at(-1);
  const picture = spark([], { width: WIDTH, height: HEIGHT, className: "spark wide" });
  shown.forEach((one, at) => {
    const places = thinned(one.values.map((_, place) => place), POINTS);
    add(picture, places.map((place) => one.values[place]), { width: WIDTH, height: HEIGHT, extent, className: `run${at}`, steps: places.map((place) => one.steps[place]), span });
  });
  const ends = figures(extent);
  return h("button", {
    type: "button", class: "figure", title: t("charts.open", { metric }),
    "aria-label": `${t("charts.open", { metric })}. ${t("charts.told", { first: figure(series[0].values[0]), last: figure(last), low: ends[0], high: ends[1] })}`,
    on: { click: () => tell("plot", { metrics: [metric], runs: series.map((one) => one.run), only: true }) },
  }, h("span", { class: series.length > 1 ? "figure-head several" : "figure-head" }, h("span", { class: "figure-name" }, h("bdi", { dir: "ltr" }, metric)), h("span", { class: "figure-value" }, series.length > 1 ? shown.map((one, at) => h("span", { class: `of-run${at}` }, figure(one.values.at(-1), 3))) : figure(last, 3))), picture,
  h("span", { class: "figure-foot" }, h("span", {}, `${t("step")} ${span[0]}`), h("span", {}, ends[0] === ends[1] ? ends[0] : `${ends[0]} – ${ends[1]}`), h("span", {}, String(span[1]))));
}
