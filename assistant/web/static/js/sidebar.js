// The left side: sessions by day, searched, renamed, deleted.

import { call } from "./api.js";
import { $, h, iconButton, openMenu, toast } from "./dom.js";
import { agree, line } from "./dialog.js";
import { t, when, whenExactly } from "./i18n.js";
import { broadcast, loadSessions, on, state } from "./store.js";

const list = $("session-list"), find = $("session-find");
const DAY = 86_400_000, LONGEST_TITLE = 200; // characters that the API takes
let timer = 0;

function group(iso) {
  const midnight = new Date().setHours(0, 0, 0, 0), at = +new Date(iso);
  if (at >= midnight) return "sessions.today";
  if (at >= midnight - DAY) return "sessions.yesterday";
  return at >= midnight - 6 * DAY ? "sessions.week" : "sessions.earlier";
}

export function draw() {
  const parts = [];
  let last = "", items = null;
  for (const session of state.sessions) {
    const name = group(session.updated);
    if (name !== last) {
      last = name;
      items = h("ul", {});
      parts.push(h("section", {}, h("h2", {}, t(name)), items));
    }
    items.append(item(session));
  }
  if (!parts.length) parts.push(h("p", { class: "empty" }, t(state.query ? "sessions.none" : "sessions.empty")));
  list.replaceChildren(...parts);
}

function item(session) {
  const here = session.id === state.session?.id;
  const title = session.title || t("sessions.untitled");
  return h("li", { class: here ? "here" : null },
    h("a", { href: `#/s/${session.id}`, "aria-current": here ? "page" : null, title: `${title}\n${whenExactly(session.updated)}` }, h("span", { class: "name" }, title), h("time", { datetime: session.updated }, when(session.updated))),
    iconButton("more", t("sessions.more", { title }), (event) => openMenu(event.currentTarget, [
      { icon: "edit", label: t("sessions.rename"), act: () => rename(session) },
      { icon: "trash", label: t("sessions.delete"), danger: true, act: () => remove(session) },
    ]), { "aria-haspopup": "menu", "aria-expanded": "false", class: "icon more" }));
}

export async function rename(session) {
  await line(t("sessions.rename"), "", { value: session.title ?? "", most: LONGEST_TITLE, act: async (title) => {
    await call("PATCH", `/sessions/${session.id}`, { json: { title } });
    if (state.session?.id === session.id) state.session.title = title;
    await loadSessions();
    broadcast({ session: session.id, kind: "renamed" });
  } });
}

async function remove(session) {
  if (!(await agree(t("sessions.deleteAsk"), t("sessions.deleteText", { title: session.title || t("sessions.untitled") }), t("sessions.delete"), true))) return;
  try {
    await call("DELETE", `/sessions/${session.id}`);
    if (state.session?.id === session.id) location.hash = "";
    await loadSessions();
    broadcast({ session: session.id, kind: "deleted" });
  } catch (error) { toast(error.message, { error: true }); }
}

export function install() {
  on("sessions", draw);
  on("opened", draw);
  on("titled", draw);
  find.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { state.query = find.value.trim(); loadSessions().catch((error) => toast(error.message, { error: true })); }, 150);
  });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); find.value = ""; find.dispatchEvent(new Event("input")); $("ask-text").focus(); }
    if (event.key === "ArrowDown") { event.preventDefault(); list.querySelector("a")?.focus(); }
  });
  list.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    (links[at + (event.key === "ArrowDown" ? 1 : -1)] ?? (event.key === "ArrowUp" ? find : null))?.focus();
  });
}
