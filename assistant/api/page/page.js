"use strict";
const zh = navigator.language.toLowerCase().startsWith("zh");
document.documentElement.lang = zh ? "zh-CN" : "en";
const words = zh
  ? { busy: "正在读……", traced: "个数字可追溯", empty: "先粘贴一段日志。", line: "第 {n} 行" }
  : { busy: "Reading…", traced: "numbers traced", empty: "Paste a log first.", line: "line {n}" };
for (const node of document.querySelectorAll("[data-zh]")) node.textContent = node.dataset[zh ? "zh" : "en"];
const box = document.getElementById("text"), state = document.getElementById("state");
const out = document.getElementById("answer"), button = document.getElementById("ask");

document.getElementById("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!box.value.trim()) { state.textContent = words.empty; return; }
  button.disabled = true; state.textContent = words.busy; out.replaceChildren();
  try {
    const reply = await fetch("/explain", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ text: box.value }),
    });
    const body = await reply.json();
    if (!reply.ok) throw new Error(body.detail);
    show(body);
    state.textContent = !body.grounding.numbers ? "" : `${body.grounding.supported}/${body.grounding.numbers} ${words.traced} · ${body.usage.seconds.toFixed(2)} s`;
  } catch (error) {
    state.textContent = "";
    const text = document.createElement("p");
    text.className = "error"; text.textContent = error.message; out.append(text);
  } finally { button.disabled = false; }
});
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) document.getElementById("form").requestSubmit();
});

// The answer's Markdown is built as DOM nodes; nothing in it is ever taken as HTML.
function show(body) {
  const facts = Object.fromEntries(body.facts.map((fact) => [fact.id, fact]));
  const points = Array.from(body.answer); // mentions count characters, not UTF-16 units
  let text = "", at = 0;
  for (const mention of body.mentions) {
    if (mention.start < at) continue;
    text += points.slice(at, mention.start).join("") + "\u0002" + mention.fact + "\u0003" + points.slice(mention.start, mention.end).join("") + "\u0004";
    at = mention.end;
  }
  text += points.slice(at).join("");
  for (const block of text.split("\n\n")) out.append(render(block, facts));
  for (const warning of body.warnings) out.append(element("blockquote", warning, facts));
}
function render(block, facts) {
  if (block.startsWith("### ")) return element("h3", block.slice(4), facts);
  const lines = block.split("\n");
  if (lines[0].startsWith("| ")) {
    const holder = document.createElement("div"), table = document.createElement("table");
    holder.className = "table"; holder.tabIndex = 0; holder.append(table);
    lines.forEach((line, index) => {
      if (index === 1) return;
      const row = table.insertRow();
      for (const cell of line.slice(2, -2).split(" | ")) row.append(element(index ? "td" : "th", cell, facts));
    });
    return holder;
  }
  if (lines[0].startsWith("- ")) {
    const list = document.createElement("ul");
    for (const line of lines) list.append(element("li", line.replace(/^- /, ""), facts));
    return list;
  }
  return element("p", block, facts);
}
function element(name, text, facts) {
  const node = document.createElement(name);
  inline(node, text, facts);
  return node;
}
function inline(node, text, facts) {
  const pattern = /\*\*((?:[^*]|\*(?!\*))+)\*\*|`([^`]+)`|\u0002([^\u0003]*)\u0003([^\u0004]*)\u0004/g;
  let last = 0, match;
  while ((match = pattern.exec(text))) {
    node.append(text.slice(last, match.index));
    last = pattern.lastIndex;
    if (match[1] !== undefined) node.append(element("strong", match[1], facts));
    else if (match[2] !== undefined) { const code = document.createElement("code"); code.textContent = match[2]; node.append(code); }
    else {
      const span = document.createElement("span"), fact = facts[match[3]];
      inline(span, match[4], facts);
      if (fact) {
        span.className = "fact";
        span.title = [fact.metric || fact.name, fact.formula, fact.line && words.line.replace("{n}", fact.line)].filter(Boolean).join(" · ");
      }
      node.append(span);
    }
  }
  node.append(text.slice(last));
}
