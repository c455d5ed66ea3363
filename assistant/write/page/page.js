"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = data.words;
  const hues = ["#2f6fde", "#d9572b", "#1f9d68", "#a24bd0", "#c08a00", "#0e93a8", "#c9387b", "#6b7280"];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawn = [];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const joined = (series) => {  // one axis of steps for all series, null where one has no value
    const steps = [...new Set(series.flatMap((s) => s.steps))].sort((a, b) => a - b);
    return [steps, ...series.map((s) => { const at = new Map(s.steps.map((x, i) => [x, s.values[i]])); return steps.map((x) => at.has(x) ? at.get(x) : null); })];
  };
  const smoothed = (values) => { let mean = null; return values.map((v) => v === null ? null : (mean = mean === null ? v : 0.8 * mean + 0.2 * v)); };
  const short = (v) => v === null || v === undefined ? "–" : v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? v.toExponential(2) : String(+v.toPrecision(4));

  class Chart {
    constructor(figure, title, series) { this.figure = figure; this.log = false; this.smooth = false; this.set(title, series); drawn.push(this); }
    set(title, series) { this.title = title; this.series = series; this.draw(); }
    draw() {
      this.figure.replaceChildren();
      const bar = document.createElement("div"); bar.className = "bar";
      const name = document.createElement("strong"); name.textContent = this.title; bar.append(name);
      for (const [key, label] of [["log", words.log], ["smooth", words.smooth]]) {
        const button = document.createElement("button"); button.type = "button"; button.textContent = label;
        button.setAttribute("aria-pressed", this[key]);
        button.onclick = () => { this[key] = !this[key]; this.draw(); };
        bar.append(button);
      }
      this.figure.append(bar);
      const holder = document.createElement("div"); this.figure.append(holder);
      let table = joined(this.series);
      if (this.log) table = table.map((column, i) => i ? column.map((v) => v !== null && v > 0 ? v : null) : column);
      const shown = [{ label: words.step }];
      const columns = [table[0]];
      this.series.forEach((s, i) => {
        const stroke = hues[i % hues.length];
        const few = s.steps.length <= 60;
        columns.push(table[i + 1]);
        shown.push({ label: s.label, stroke: this.smooth ? stroke + "55" : stroke, width: 1.5, spanGaps: true, points: { show: few, size: 4 }, value: (_, v) => short(v) });
        if (this.smooth) { columns.push(smoothed(table[i + 1])); shown.push({ label: s.label + " · " + words.smooth, stroke, width: 2, spanGaps: true, points: { show: false }, value: (_, v) => short(v) }); }
      });
      const axis = { stroke: style("--soft"), grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line"), width: 1 } };
      const marks = (data.marks || []).filter((m) => this.series.some((s) => m.metrics.includes(s.metric) && m.run === s.run));
      new uPlot({
        width: Math.max(260, this.figure.clientWidth - 20), height: this.figure.classList.contains("wide") ? 300 : 210,
        scales: { x: { time: false }, y: { distr: this.log ? 3 : 1 } },
        axes: [{ ...axis }, { ...axis, size: 64, values: (_, ticks) => ticks.map((v) => v === null ? "" : short(v)) }],
        series: shown,
        hooks: { draw: [(u) => { for (const m of marks) {
          const x = u.valToPos(m.step, "x", true); const ctx = u.ctx; ctx.save(); ctx.strokeStyle = style("--" + m.severity); ctx.setLineDash([4, 4]); ctx.beginPath(); ctx.moveTo(x, u.bbox.top); ctx.lineTo(x, u.bbox.top + u.bbox.height); ctx.stroke(); ctx.restore(); } }] },
      }, columns, holder);
    }
  }

  const seriesOf = (run, index) => { const m = data.runs[run].metrics[index]; return { run: data.runs[run].id, metric: m.metric, label: m.metric, steps: m.steps, values: m.values }; };
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const chart = data.charts[+figure.dataset.chart];
    new Chart(figure, chart.title, chart.series);
  }
  for (const box of document.querySelectorAll(".explorer")) {
    const run = +box.dataset.run, rows = [...box.querySelectorAll("tbody tr")];
    let chosen = [data.runs[run].first];
    const chart = new Chart(box.querySelector("figure"), "", []);
    const show = () => {
      rows.forEach((row) => row.classList.toggle("chosen", chosen.includes(+row.dataset.metric)));
      const picked = chosen.map((i) => seriesOf(run, i));
      chart.set(picked.map((s) => s.metric).join(", "), picked);
    };
    const pick = (row, add) => {
      const index = +row.dataset.metric;
      chosen = !add ? [index] : chosen.includes(index) ? chosen.filter((i) => i !== index) : [...chosen, index].slice(-8);
      if (chosen.length) show();
    };
    rows.forEach((row) => {
      row.onclick = (event) => pick(row, event.shiftKey || event.ctrlKey || event.metaKey);
      row.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(row, event.shiftKey); } };
    });
    box.querySelector("input").oninput = (event) => {
      const wanted = event.target.value.toLowerCase().split(/\s+/);
      rows.forEach((row) => { row.hidden = !wanted.every((w) => row.firstElementChild.textContent.toLowerCase().includes(w)); });
    };
    if (data.runs[run].metrics.length) show();
  }
  const again = () => drawn.forEach((chart) => chart.draw());
  dark.addEventListener("change", again);
  addEventListener("beforeprint", again); addEventListener("afterprint", again);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; again(); } });
  const open = () => { const target = location.hash && document.getElementById(location.hash.slice(1)); const box = target && target.closest("details"); if (box) { box.open = true; target.scrollIntoView({ block: "center" }); } };
  addEventListener("hashchange", open); open();
})();
