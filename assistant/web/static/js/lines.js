// From runs' series to what a chart draws: common steps, smoothing, scales.

/** Steps ascending and values of one metric: a step that was printed again counts once, its last value. */
export function course(held, metric) {
  const last = new Map();
  const values = held.series[metric] ?? [];
  for (let at = 0; at < held.steps.length; at += 1) {
    const value = values[at];
    if (value !== null && value !== undefined) last.set(held.steps[at], typeof value === "number" ? value : null);
  }
  const steps = [...last.keys()].sort((a, b) => a - b);
  return { steps, values: steps.map((step) => last.get(step)) };
}

/** An exponential moving average of that weight, without the pull towards zero of its first values; gaps stay gaps. */
export function smooth(values, weight) {
  if (weight <= 0) return values;
  let mean = 0, n = 0;
  return values.map((value) => {
    if (value === null || value === undefined) return value;
    mean = mean * weight + (1 - weight) * value;
    n += 1;
    return mean / (1 - weight ** n);
  });
}

/** Lines on one axis of steps: `[steps, values…]`; `undefined` where a line has no point, `null` where it has no number. */
export function joined(lines) {
  const first = lines[0]?.steps ?? [];
  if (lines.every((line) => line.steps.length === first.length && line.steps.every((step, at) => step === first[at]))) return [first, ...lines.map((line) => line.values)];
  const steps = [...new Set(lines.flatMap((line) => line.steps))].sort((a, b) => a - b);
  const place = new Map(steps.map((step, at) => [step, at]));
  return [steps, ...lines.map((line) => {
    const column = new Array(steps.length);
    line.steps.forEach((step, at) => { column[place.get(step)] = line.values[at]; });
    return column;
  })];
}

const ONE_SCALE = 5;

/** Metric → scale: all on one where their sizes are alike, else each on its own. */
export function scales(lines) {
  const sizes = new Map();
  for (const line of lines) {
    let size = sizes.get(line.metric) ?? 0;
    for (const value of line.values) if (typeof value === "number") size = Math.max(size, Math.abs(value));
    sizes.set(line.metric, size);
  }
  const all = [...sizes.values()];
  const alike = Math.max(...all) <= ONE_SCALE * Math.min(...all);
  return new Map([...sizes.keys()].map((metric, at) => [metric, alike ? "y" : `y${at}`]));
}
