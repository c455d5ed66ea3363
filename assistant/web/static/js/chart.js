// The large chart (uPlot): zoom and pan by pointer, wheel, touch and keys; marks at steps.

import { h } from "./dom.js";
import { figure } from "./i18n.js";

let loading = null;

/** uPlot, loaded when the first chart is drawn. */
export function library() {
  loading ??= new Promise((resolve, reject) => {
    document.head.append(h("link", { rel: "stylesheet", href: "/static/vendor/uPlot.min.css" }));
    document.head.append(h("script", { src: "/static/vendor/uPlot.iife.min.js", on: { load: () => resolve(window.uPlot), error: () => { loading = null; reject(new Error("uPlot")); } } }));
  });
  return loading;
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const hue = (at) => style(`--hue-${at % 8}`);

/**
 * Draws lines.
 *
 * @param Plot uPlot.
 * @param holder the element it stands in; its width decides.
 * @param data `[steps, values…]`.
 * @param lines a line each: `{metric, label, color, dash, faint, scale}`.
 * @param options `{log, height, marks: [{step, severity, label}], onCursor(index)}`; for one of several strips on a common
 *   axis of steps `strip: {peers, last}` too: all plots, and whether it is the lowest, which alone carries the axis' labels.
 */
export function draw(Plot, holder, data, lines, { log, height, marks, onCursor, strip = null }) {
  const ink = style("--soft"), grid = style("--line");
  const used = [...new Set(lines.map((line) => line.scale))];
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, font: "12px system-ui, sans-serif" };
  const plot = new Plot({
    width: holder.clientWidth || 400,
    height,
    padding: [12, used.length > 1 ? 4 : 12, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: true, dist: 6 }, points: { size: 6 }, ...(strip ? { sync: { key: STRIPS, scales: ["x", null] } } : {}) },
    scales: { x: { time: false }, ...Object.fromEntries(used.map((name) => [name, log ? { distr: 3, log: 10 } : {}])) },
    axes: [{ ...axis, size: !strip || strip.last ? 32 : 6, values: (_, splits) => splits.map((value) => (Number.isInteger(value) && (!strip || strip.last) ? String(value) : "")) },
      ...used.slice(0, 2).map((name, at) => ({
        ...axis, scale: name, side: at ? 1 : 3, space: strip ? 24 : 30, size: (self, values) => strip ? STRIP_AXIS : Math.max(40, 14 + 7 * Math.max(0, ...(values ?? []).map((one) => (one ?? "").length))),
        grid: at ? { show: false } : axis.grid, stroke: used.length > 1 ? lines.find((line) => line.scale === name).color : ink,
        values: (_, splits) => splits.map((value) => (value === null ? "" : figure(value, 3))),
      }))],
    series: [{}, ...lines.map((line) => ({ scale: line.scale, stroke: line.faint ? `${line.color}47` : line.color, width: line.faint ? 1 : 1.75, dash: line.dash, points: { show: data[0].length < 40 && !line.faint, size: 5, fill: line.color } }))],
    hooks: { setScale: strip ? [(self, name) => { if (name === "x") follow(self, strip.peers); }] : [], draw: [(self) => drawMarks(self, marks)], setCursor: [(self) => onCursor(self.cursor.idx)] },
  }, data, holder);
  navigate(plot, data[0]);
  return plot;
}

const STRIPS = "strips", STRIP_AXIS = 68;

/** The other strips show the steps that one was moved to. */
function follow(plot, peers) {
  const { min, max } = plot.scales.x;
  for (const peer of peers) if (peer !== plot && (peer.scales.x.min !== min || peer.scales.x.max !== max)) peer.setScale("x", { min, max });
}

function drawMarks(plot, marks) {
  const { ctx, bbox } = plot, ratio = devicePixelRatio || 1;
  for (const mark of marks) {
    const x = plot.valToPos(mark.step, "x", true);
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = style(`--${mark.severity}`) || style("--accent");
    ctx.lineWidth = ratio * 1.25;
    ctx.setLineDash([4 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(x - 4 * ratio, bbox.top);
    ctx.lineTo(x + 4 * ratio, bbox.top);
    ctx.lineTo(x, bbox.top + 6 * ratio);
    ctx.fill();
    ctx.restore();
  }
}

/** Shows steps from `low` to `high`, kept within the data. */
export function view(plot, low, high) {
  const steps = plot.data[0], first = steps[0], last = steps.at(-1);
  const width = Math.min(high - low, last - first);
  const from = Math.max(first, Math.min(low, last - width));
  plot.setScale("x", { min: from, max: from + width });
}

export function zoom(plot, factor, at = null) {
  const { min, max } = plot.scales.x;
  const centre = at ?? (min + max) / 2;
  if (factor < 1 && (max - min) * factor < 1) return;
  view(plot, centre - (centre - min) * factor, centre + (max - centre) * factor);
}

export function pan(plot, share) {
  const { min, max } = plot.scales.x, by = (max - min) * share;
  view(plot, min + by, max + by);
}

export function whole(plot) {
  const steps = plot.data[0];
  plot.setScale("x", { min: steps[0], max: steps.at(-1) });
}

function navigate(plot, steps) {
  if (steps.length < 2) return;
  const over = plot.over;
  over.addEventListener("dblclick", () => whole(plot));
  over.addEventListener("wheel", (event) => {
    const across = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey && !across) return; // the page scrolls
    event.preventDefault();
    if (across || event.shiftKey) pan(plot, (event.deltaX || event.deltaY) / over.clientWidth);
    else zoom(plot, Math.exp(event.deltaY * 0.003), plot.posToVal(event.offsetX, "x"));
  }, { passive: false });
  // Shift and drag, or one finger, moves; two fingers zoom.
  const fingers = new Map();
  let start = null, due = 0;
  const begin = () => { start = { min: plot.scales.x.min, max: plot.scales.x.max, fingers: [...fingers.values()].map(({ x }) => x) }; };
  const take = (event) => event.pointerType !== "mouse" || event.shiftKey || event.button === 1;
  over.addEventListener("pointerdown", (event) => {
    if (!take(event)) return;
    fingers.set(event.pointerId, { x: event.clientX });
    over.setPointerCapture(event.pointerId);
    begin();
  });
  over.addEventListener("mousedown", (event) => { if (event.shiftKey || event.button === 1) { event.stopImmediatePropagation(); event.preventDefault(); } }, { capture: true });
  over.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, { x: event.clientX });
    due ||= requestAnimationFrame(() => {
      due = 0;
      if (!start) return;
      const now = [...fingers.values()].map(({ x }) => x), unit = (start.max - start.min) / over.clientWidth;
      if (now.length === 1) { const by = (start.fingers[0] - now[0]) * unit; view(plot, start.min + by, start.max + by); }
      else if (now.length === 2 && start.fingers.length === 2) {
        const factor = Math.abs(start.fingers[0] - start.fingers[1]) / Math.max(12, Math.abs(now[0] - now[1]));
        const centre = start.min + ((start.fingers[0] + start.fingers[1]) / 2 - over.getBoundingClientRect().left) * unit;
        view(plot, centre - (centre - start.min) * factor, centre + (start.max - centre) * factor);
      }
    });
  });
  const end = (event) => { if (fingers.delete(event.pointerId)) { if (fingers.size) begin(); else start = null; } };
  over.addEventListener("pointerup", end);
  over.addEventListener("pointercancel", end);
}

/** Keys of a chart: what they do to a plot (and, by following, to the strips beside it). */
export function keysOf(holder, plot) {
  holder.onkeydown = (event) => {
    const act = { ArrowLeft: () => pan(plot, -0.15), ArrowRight: () => pan(plot, 0.15), "+": () => zoom(plot, 0.7), "=": () => zoom(plot, 0.7), "-": () => zoom(plot, 1.4), 0: () => whole(plot), Home: () => whole(plot) }[event.key];
    if (act && plot.data[0].length > 1 && !event.ctrlKey && !event.metaKey) { event.preventDefault(); act(); }
  };
}
