// The interface's languages: strings, numbers, dates.

let strings = {};
let current = document.documentElement.dataset.lang === "zh" ? "zh" : "en";
let rules = new Intl.PluralRules(current);
const listeners = new Set();

export const lang = () => current;
export const locale = () => (current === "zh" ? "zh-CN" : "en");

/** A string, its `{fields}` filled; with a number `n`, its plural form where it has one. */
export function t(key, values = {}) {
  const form = typeof values.n === "number" ? strings[`${key}.${rules.select(values.n)}`] : undefined;
  const text = form ?? strings[key] ?? strings[`${key}.other`] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? count(value) : String(value);
  });
}

/** Whether there is such a string. */
export const known = (key) => key in strings;

export async function load(language = current) {
  const reply = await fetch(`/static/strings/${language}.json`);
  if (!reply.ok) throw new Error(`strings ${reply.status}`);
  strings = await reply.json();
  current = language;
  rules = new Intl.PluralRules(language);
  document.documentElement.lang = locale();
  document.documentElement.dataset.lang = language;
  label(document);
}

/** Switches the language, remembers it, tells who wants to know. */
export async function choose(language) {
  await load(language);
  remember("lang", language);
  for (const listener of listeners) listener();
}

export const onLanguage = (listener) => listeners.add(listener);

/** Fills the texts of marked elements (`data-t`, `data-t-label`, `data-t-placeholder`). */
export function label(root) {
  for (const node of root.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of root.querySelectorAll("[data-t-label]")) {
    const text = t(node.dataset.tLabel);
    node.setAttribute("aria-label", text);
    if (node.tagName === "BUTTON") node.title = text;
  }
  for (const node of root.querySelectorAll("[data-t-placeholder]")) node.placeholder = t(node.dataset.tPlaceholder);
}

export function remember(name, value) {
  try { if (value === null) localStorage.removeItem(name); else localStorage.setItem(name, value); } catch { /* private mode, or full */ }
}

export function recall(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

const counts = new Map();

/** A whole number or a figure with its decimals, grouped as the language does. */
export function count(value) {
  if (!counts.has(current)) counts.set(current, new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }));
  return counts.get(current).format(value);
}

/** A metric's value to so many significant digits; very small and large ones in powers of ten. Written as answers write. */
export function figure(value, digits = 4) {
  if (typeof value === "string") return { NaN: "NaN", Infinity: "∞", "-Infinity": "-∞" }[value] ?? value;
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(Math.max(0, digits - 1)).replace(/e([+-])(\d)$/, "e$10$2");
  if (Number.isInteger(value)) return count(value);
  const long = size >= 10 ** digits; // digits before the point are never rounded away
  const key = `${current}${long ? "long" : digits}`;
  if (!counts.has(key)) counts.set(key, new Intl.NumberFormat(locale(), long ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits }));
  return counts.get(key).format(value);
}

const MOST_DIGITS = 12;

/** Several values with the same number of digits: as many more as it takes that what differs looks different. */
export function figures(values, digits = 3) {
  for (let more = digits; ; more += 1) {
    const told = values.map((value) => figure(value, more));
    if (more >= MOST_DIGITS || new Set(told).size === new Set(values.map(String)).size) return told;
  }
}

export function bytes(size) {
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  while (size >= 1000 && at < 3) { size /= 1000; at += 1; }
  return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: at && size < 10 ? 1 : 0 }).format(size)} ${units[at]}`;
}

/** When it was: the time today, else the day. */
export function when(iso) {
  const date = new Date(iso), now = new Date();
  if (Number.isNaN(+date)) return "";
  const options = date.toDateString() === now.toDateString() ? { hour: "2-digit", minute: "2-digit" } : date.getFullYear() === now.getFullYear() ? { month: "short", day: "numeric" } : { year: "numeric", month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(locale(), options).format(date);
}

export function whenExactly(iso) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));
}
