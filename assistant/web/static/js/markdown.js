// A very small Markdown for text that is still streaming, and the taking-in of the server's HTML for finished text.

import { h } from "./dom.js";
import { t } from "./i18n.js";

/** Blocks of streaming Markdown as nodes: headings, lists, tables, code, paragraphs; the rest stays text. */
export function small(text) {
  const holder = document.createDocumentFragment();
  const lines = text.split("\n");
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) { at += 1; continue; }
    if (line.startsWith("```")) {
      const code = [];
      for (at += 1; at < lines.length && !lines[at].startsWith("```"); at += 1) code.push(lines[at]);
      at += 1;
      holder.append(h("pre", { tabindex: "0" }, h("code", {}, code.join("\n"))));
    } else if (/^#{1,6} /.test(line)) {
      holder.append(inline(h("h3"), line.replace(/^#+ /, "")));
      at += 1;
    } else if (/^([-*]|\d+\.) /.test(line)) {
      const list = h(/^\d/.test(line) ? "ol" : "ul");
      for (; at < lines.length && /^([-*]|\d+\.) /.test(lines[at]); at += 1) list.append(inline(h("li"), lines[at].replace(/^([-*]|\d+\.) /, "")));
      holder.append(list);
    } else if (line.startsWith("|")) {
      const rows = [];
      for (; at < lines.length && lines[at].startsWith("|"); at += 1) rows.push(cells(lines[at]));
      const body = h("tbody"), table = h("table", {}, h("thead", {}, h("tr", {}, rows[0].map((cell) => inline(h("th"), cell)))), body);
      for (const row of rows.slice(1)) if (!row.every((cell) => /^:?-{2,}:?$/.test(cell))) body.append(h("tr", {}, row.map((cell) => inline(h("td"), cell))));
      holder.append(framed(table));
    } else if (/^(---|\*\*\*)\s*$/.test(line)) {
      holder.append(h("hr"));
      at += 1;
    } else {
      const quoted = line.startsWith("> "), parts = [];
      for (; at < lines.length && lines[at].trim() && !/^(```|#{1,6} |[-*] |\||\d+\. )/.test(lines[at]); at += 1) parts.push(lines[at].replace(/^> ?/, ""));
      if (!parts.length) { parts.push(line); at += 1; }
      holder.append(inline(h(quoted ? "blockquote" : "p"), parts.join("\n")));
    }
  }
  return holder;
}

function cells(line) {
  return line.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** `**bold**` and `code` in a text. */
export function inline(node, text) {
  const pattern = /\*\*((?:[^*]|\*(?!\*))+)\*\*|`([^`]+)`/g;
  let last = 0, match;
  while ((match = pattern.exec(text))) {
    node.append(text.slice(last, match.index));
    last = pattern.lastIndex;
    node.append(match[1] !== undefined ? inline(h("strong"), match[1]) : h("code", {}, match[2]));
  }
  node.append(text.slice(last));
  return node;
}

function framed(table) {
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": t("table") }, table);
}

const SHORT_CELL = 13; // characters that stay on one line
const TAGS = new Set(["A", "BLOCKQUOTE", "BR", "CODE", "DEL", "EM", "H1", "H2", "H3", "H4", "H5", "H6", "HR", "LI", "OL", "P", "PRE", "S", "SPAN", "STRONG", "TABLE", "TBODY", "TD", "TH", "THEAD", "TR", "UL"]);
const ATTRIBUTES = { A: new Set(["class", "href", "data-fact", "data-card", "target", "rel"]), SPAN: new Set(["class"]), CODE: new Set(["class"]), OL: new Set(["start"]) };

/** The server's HTML as nodes: what is not on the list above is dropped, so that even a fault there runs nothing. */
export function taken(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html").body;
  const holder = document.createDocumentFragment();
  for (const child of [...parsed.childNodes]) holder.append(clean(child));
  for (const table of holder.querySelectorAll("table")) {
    const frame = framed(arranged(table.cloneNode(true)));
    for (const cell of frame.querySelectorAll("td")) if (cell.textContent.trim().length <= SHORT_CELL) cell.classList.add("short");
    table.replaceWith(frame);
  }
  return holder;
}

const NUMBER = /^[<>≈~≤≥±+−-]?\s?\d/, NONE = /^(—|–|-|NaN|)$/;
const WIDE = 6; // columns from which a table may not fit

/** A table whose columns of numbers stand to the right; in a wide one, the conclusion of its last column stands second. */
function arranged(table) {
  const rows = [...table.querySelectorAll("tbody tr")].map((row) => [...row.cells]), head = [...(table.tHead?.rows[0]?.cells ?? [])];
  const numeric = head.map((_, at) => {
    const texts = rows.map((cells) => cells[at]?.textContent.trim() ?? "");
    return at > 0 && texts.some((text) => NUMBER.test(text)) && texts.every((text) => NUMBER.test(text) || NONE.test(text));
  });
  numeric.forEach((is, at) => { if (is) for (const cells of [head, ...rows]) cells[at]?.classList.add("num"); });
  const last = head.length - 1;
  if (head.length >= WIDE && !numeric[last] && numeric.slice(1, last).every(Boolean)) for (const cells of [head, ...rows]) if (cells[last]) cells[0].after(cells[last]);
  if (head.length >= WIDE) table.className = "wide";
  return table;
}

function clean(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE) return document.createTextNode("");
  if (!TAGS.has(node.tagName)) return document.createTextNode(node.textContent);
  const made = document.createElement(node.tagName);
  for (const { name, value } of node.attributes) {
    if (!ATTRIBUTES[node.tagName]?.has(name)) continue;
    if (name === "href" && !/^(https?:\/\/|#)/i.test(value)) continue;
    made.setAttribute(name, value);
  }
  if (made.tagName === "A") made.draggable = false;
  for (const child of node.childNodes) made.append(clean(child));
  return made;
}
