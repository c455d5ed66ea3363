// Building the page's nodes: text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `props`: `class`, `on` (listeners), `data` (dataset), any attribute; booleans set or leave an attribute. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "class") node.className = value;
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  add(node, children);
  return node;
}

/** Appends nodes and texts; nothing for what is empty. */
export function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) if (value !== null && value !== undefined) node.setAttribute(name, String(value));
  node.append(...children.flat());
  return node;
}

export const $ = (id) => document.getElementById(id);

export function sr(text) {
  return h("span", { class: "sr" }, text);
}

const ICONS = {
  alert: ["M12 4 2.8 19.5h18.4L12 4Z", "M12 10v4.5", "M12 17.2v.1"],
  auto: ["M12 3.5a8.5 8.5 0 1 0 0 17Z", "M12 3.5a8.5 8.5 0 0 1 0 17"],
  back: ["M19 12H5", "M11 6l-6 6 6 6"],
  chart: ["M4 4v16h16", "M7.5 15l4-5 3 2.5L20 6"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  clip: ["M20 11.2l-8 8a5 5 0 0 1-7.1-7.1l8.3-8.3a3.4 3.4 0 0 1 4.8 4.8l-8.3 8.3a1.7 1.7 0 0 1-2.4-2.4l7.6-7.6"],
  close: ["M6 6l12 12", "M18 6 6 18"],
  copy: ["M9 9h10.5v10.5H9z", "M15 9V4.5H4.5V15H9"],
  doc: ["M6 3.5h8l4 4v13H6z", "M14 3.5v4h4", "M9 12h6", "M9 15.5h6"],
  down: ["M12 5v14", "M6 13l6 6 6-6"],
  download: ["M12 4v11", "M7 11l5 5 5-5", "M4.5 19.5h15"],
  edit: ["M4.5 19.5l1-4L16.8 4.2l3 3L8.5 18.5l-4 1Z", "M14.5 6.5l3 3"],
  expand: ["M14 4.5h5.5V10", "M10 19.5H4.5V14", "M19.5 4.5 13 11", "M4.5 19.5 11 13"],
  info: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17Z", "M12 11v5.5", "M12 7.6v.1"],
  menu: ["M4 7h16", "M4 12h16", "M4 17h16"],
  minus: ["M5 12h14"],
  moon: ["M19.5 14.2A8 8 0 0 1 9.8 4.5a8 8 0 1 0 9.7 9.7Z"],
  more: ["M6 12h.1", "M12 12h.1", "M18 12h.1"],
  next: ["M9 6l6 6-6 6"],
  prev: ["M15 6l-6 6 6 6"],
  panel: ["M4 5h16v14H4z", "M14.5 5v14"],
  plus: ["M12 5v14", "M5 12h14"],
  redo: ["M19.5 5v5h-5", "M19 10a7.5 7.5 0 1 0 .4 4.5"],
  search: ["M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Z", "M15.5 15.5 20 20"],
  shield: ["M12 3.5l7 2.5v5.5c0 4.5-3 7.5-7 9-4-1.5-7-4.5-7-9V6l7-2.5Z", "M8.8 12l2.4 2.4 4.2-4.6"],
  stop: ["M7 7h10v10H7z"],
  sun: ["M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z", "M12 2.5v2", "M12 19.5v2", "M2.5 12h2", "M19.5 12h2", "M5.3 5.3l1.4 1.4", "M17.3 17.3l1.4 1.4", "M5.3 18.7l1.4-1.4", "M17.3 6.7l1.4-1.4"],
  trash: ["M5 7h14", "M9.5 7V4.5h5V7", "M7 7l.8 12.5h8.4L17 7", "M10.3 10.5v5.5", "M13.7 10.5v5.5"],
  up: ["M12 19V5", "M6 11l6-6 6 6"],
};

/** A line icon; hidden from screen readers, whose text the control carries. */
export function icon(name) {
  const node = svg("svg", { viewBox: "0 0 24 24", class: "i", "aria-hidden": "true", focusable: "false" });
  for (const d of ICONS[name] ?? []) node.append(svg("path", { d }));
  return node;
}

/** A button with an icon and a name for screen readers and the pointer. */
export function iconButton(name, label, onClick, props = {}) {
  return h("button", { type: "button", class: "icon", "aria-label": label, title: label, on: { click: onClick }, ...props }, icon(name));
}

/** Says something to screen readers. */
export function announce(text) {
  const live = $("live");
  live.textContent = "";
  requestAnimationFrame(() => { live.textContent = text; });
}

let menuOpen = null;

export function closeMenu() {
  if (!menuOpen) return false;
  const { node, anchor } = menuOpen;
  menuOpen = null;
  const within = node.contains(document.activeElement);
  node.remove();
  anchor.setAttribute("aria-expanded", "false");
  if (within) anchor.focus();
  return true;
}

/** A small menu at an element; `items`: `{label, icon, act, danger}`. */
export function openMenu(anchor, items) {
  closeMenu();
  const node = h("div", { class: "menu", role: "menu" });
  for (const item of items) {
    node.append(h("button", { type: "button", role: "menuitem", class: item.danger ? "danger" : null, on: { click: () => { closeMenu(); item.act(); } } }, item.icon ? icon(item.icon) : null, h("span", {}, item.label)));
  }
  document.body.append(node);
  const at = anchor.getBoundingClientRect(), size = node.getBoundingClientRect();
  const below = at.bottom + 4 + size.height < innerHeight;
  node.style.top = `${Math.max(8, below ? at.bottom + 4 : at.top - size.height - 4)}px`;
  node.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
  anchor.setAttribute("aria-expanded", "true");
  menuOpen = { node, anchor };
  const buttons = [...node.children];
  buttons[0]?.focus();
  node.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      buttons[(at + (event.key === "ArrowDown" ? 1 : -1) + buttons.length) % buttons.length].focus();
    } else if (event.key === "Escape" || event.key === "Tab") { event.preventDefault(); event.stopPropagation(); closeMenu(); }
  });
}
document.addEventListener("pointerdown", (event) => { if (menuOpen && !menuOpen.node.contains(event.target) && !menuOpen.anchor.contains(event.target)) closeMenu(); });

/** A notice that goes away by itself; errors stay longer and interrupt screen readers. */
export function toast(text, { error = false } = {}) {
  const node = h("div", { class: error ? "toast error" : "toast", role: error ? "alert" : "status" }, icon(error ? "alert" : "check"), h("span", {}, text));
  const middle = $("main").getBoundingClientRect(), toasts = $("toasts"); // over the conversation, whatever stands beside it
  toasts.style.left = `${middle.left + middle.width / 2}px`;
  toasts.style.maxWidth = `${Math.max(240, middle.width - 32)}px`;
  toasts.style.bottom = `${innerHeight - $("ask").getBoundingClientRect().top + 12}px`; // above the composer and its attachments
  toasts.append(node);
  setTimeout(() => node.remove(), error ? 9000 : 3500);
}

/** Whether the user wants less motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
