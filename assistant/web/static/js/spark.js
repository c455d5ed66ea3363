// Small line pictures as SVG.

import { svg } from "./dom.js";

/** A line of values, `null` where there is none (neighbours are joined over it), as an SVG of that size. */
export function spark(values, { width = 96, height = 24, mark = -1, extent = null, className = "spark" } = {}) {
  const picture = svg("svg", { class: className, viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", focusable: "false", preserveAspectRatio: "none" });
  add(picture, values, { width, height, mark, extent });
  return picture;
}

/** Draws one more line into a picture; with `steps` and their `span` (first, last), each value stands at its step. */
export function add(picture, values, { width, height, mark = -1, extent = null, className = "", steps = null, span: range = null }) {
  const numbers = values.map((value, place) => [place, value]).filter(([, value]) => typeof value === "number" && Number.isFinite(value));
  if (!numbers.length) return;
  let [low, high] = extent ?? [Infinity, -Infinity];
  if (!extent) for (const [, value] of numbers) { low = Math.min(low, value); high = Math.max(high, value); }
  const pad = mark >= 0 ? 4 : 2.5, reach = high - low;
  const share = (place) => (steps ? (range[1] === range[0] ? 0.5 : (steps[place] - range[0]) / (range[1] - range[0])) : values.length < 2 ? 0.5 : place / (values.length - 1));
  const x = (place) => pad + share(place) * (width - 2 * pad);
  const y = (value) => (reach === 0 ? height / 2 : height - pad - ((value - low) / reach) * (height - 2 * pad));
  if (numbers.length > 1) picture.append(svg("path", { class: `line ${className}`, d: numbers.map(([place, value], at) => `${at ? "L" : "M"}${x(place).toFixed(1)} ${y(value).toFixed(1)}`).join(""), "vector-effect": "non-scaling-stroke" }));
  const [place, value] = mark >= 0 ? numbers.find(([one]) => one === mark) ?? numbers.at(-1) : numbers.at(-1);
  picture.append(svg("circle", { class: `dot ${className}`, cx: x(place).toFixed(1), cy: y(value).toFixed(1), r: mark >= 0 ? 3 : 1.8 }));
}

/** At most so many values, evenly taken, first and last kept. */
export function thinned(values, most) {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, at) => values[Math.round((at * (values.length - 1)) / (most - 1))]);
}
