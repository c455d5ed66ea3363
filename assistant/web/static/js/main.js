// The page begins here: settings, sessions, what the address says, keys.

import { call, onKeyNeeded, setKey } from "./api.js";
import { draw as drawChips } from "./attachments.js";
import { drawEngines, install as installComposer } from "./composer.js";
import { busy, exportSession, halt, open, relabel as relabelConversation } from "./conversation.js";
import { line } from "./dialog.js";
import { $, closeMenu, h, icon, openMenu, toast } from "./dom.js";
import { choose, label, lang, load, onLanguage, recall, remember, t } from "./i18n.js";
import { closePanel, install as installPanel, relabel as relabelPanel, showCard, showFact } from "./panel.js";
import { draw as drawSidebar, install as installSidebar, rename } from "./sidebar.js";
import { loadSessions, on, state, tell } from "./store.js";

const side = $("side"), veil = $("veil"), thread = $("thread");

// --- the address -----------------------------------------------------------------------------------

const wanted = () => /^#\/s\/([\w-]+)/.exec(location.hash)?.[1] ?? null;

function route() {
  const id = wanted();
  closeDrawer();
  if (id === (state.session?.id ?? null) && (id || thread.childElementCount)) return undefined;
  return open(id);
}

function drawTitle() {
  const title = state.session?.title || (state.session ? t("sessions.untitled") : t("sessions.new"));
  $("title").textContent = title;
  document.title = state.session?.title ? `${state.session.title} · metric-assistant` : "metric-assistant";
  $("session-export").hidden = !state.session;
}

// --- drawers, theme, language ----------------------------------------------------------------------

const isPhone = () => matchMedia("(max-width: 899px)").matches;

function openDrawer() {
  if (!isPhone()) { document.body.classList.toggle("without-side"); remember("side", document.body.classList.contains("without-side") ? "closed" : "open"); return; }
  side.classList.add("open");
  veil.hidden = false;
  $("main").inert = true;
  $("side-close").focus();
}

function closeDrawer() {
  if (!side.classList.contains("open")) return false;
  side.classList.remove("open");
  veil.hidden = true;
  $("main").inert = false;
  $("side-open").focus();
  return true;
}

function drawSwitches() {
  for (const button of $("lang").children) button.setAttribute("aria-pressed", String(button.dataset.lang === lang()));
  const theme = document.documentElement.dataset.theme ?? "auto";
  for (const button of $("theme").children) button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme));
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  remember("theme", theme === "auto" ? null : theme);
  drawSwitches();
  tell("theme");
}

// --- the banner ------------------------------------------------------------------------------------

let lostSince = 0;

function drawBanner() {
  const banner = $("banner");
  const noModel = !state.config.model && !state.session && recall("no-model") !== "seen";
  if (lostSince) banner.replaceChildren(icon("alert"), h("span", {}, t("banner.lost")));
  else if (noModel) {
    banner.replaceChildren(icon("info"), h("span", {}, h("b", {}, t("banner.noModel")), " ", t("banner.noModelText"), " ", h("code", {}, "ASSISTANT_LLM_MODEL")),
      h("button", { type: "button", class: "icon", "aria-label": t("close"), title: t("close"), on: { click: () => { remember("no-model", "seen"); drawBanner(); } } }, icon("close")));
  }
  banner.className = lostSince ? "banner lost" : "banner";
  banner.hidden = !lostSince && !noModel;
}

async function watch() {
  if (lostSince) return;
  lostSince = Date.now();
  drawBanner();
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
    try { await call("GET", "/healthz"); break; } catch { /* still away */ }
  }
  lostSince = 0;
  drawBanner();
  try { await loadSessions(); } catch { /* the next action tells */ }
}

// --- keys ------------------------------------------------------------------------------------------

function keys(event) {
  const typing = event.target.closest?.("input, textarea, select, dialog");
  if (event.key === "Escape") {
    if (closeMenu() || closeDrawer()) return;
    if (busy()) { halt(); return; }
    if (matchMedia("(max-width: 1199px)").matches) closePanel();
    else if (typing?.id !== "ask-text") $("ask-text").focus();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    if (isPhone()) openDrawer();
    else document.body.classList.remove("without-side");
    $("session-find").focus();
    $("session-find").select();
  }
}

/** A number, a reference or a metric's definition anywhere on the page. */
function evidenceLinks(event) {
  const link = event.target.closest?.("a[data-fact], a[data-card]");
  if (!link) return;
  event.preventDefault();
  for (const lit of document.querySelectorAll("a.lit")) lit.classList.remove("lit");
  if (link.dataset.card) { showCard(link.dataset.card); return; }
  const holder = link.closest(".answer");
  const answer = holder ? answers.get(holder) : lastAnswer;
  const fact = (answer ?? lastAnswer)?.facts.find((one) => one.id === link.dataset.fact);
  if (!fact) return;
  lastAnswer = answer ?? lastAnswer;
  for (const same of (holder ?? document).querySelectorAll(`a[data-fact="${CSS.escape(fact.id)}"]`)) same.classList.add("lit");
  showFact(fact, lastAnswer);
}
const answers = { get: (node) => (state.session?.messages ?? []).find((one) => one.id === node.dataset.id)?.answer };
let lastAnswer = null;

// --- the start -------------------------------------------------------------------------------------

const loaded = load();

async function start() {
  installSidebar();
  installComposer();
  installPanel();
  on("opened", () => { drawTitle(); drawBanner(); });
  on("titled", drawTitle);
  on("sessions", () => { const here = state.sessions.find((one) => one.id === state.session?.id); if (here) state.session.title = here.title; drawTitle(); });
  on("opened-new", (session) => { drawBanner(); history.pushState(null, "", `#/s/${session.id}`); drawTitle(); loadSessions().catch(() => {}); });
  on("lost", watch);
  onLanguage(() => { drawSwitches(); drawTitle(); drawBanner(); drawSidebar(); drawEngines(); drawChips(); relabelPanel(); relabelConversation(); tell("busy"); });
  onKeyNeeded(async () => {
    await loaded;
    const key = await line(t("key.title"), t("key.text"), { type: "password", yes: t("key.use") });
    if (!key) return false;
    setKey(key.trim());
    return true;
  });
  document.addEventListener("keydown", keys);
  document.addEventListener("click", evidenceLinks);
  addEventListener("hashchange", route);
  addEventListener("popstate", route);
  $("new").addEventListener("click", () => { if (location.hash) location.hash = ""; else open(null); closeDrawer(); $("ask-text").focus(); });
  $("side-open").addEventListener("click", openDrawer);
  $("side-close").addEventListener("click", closeDrawer);
  veil.addEventListener("click", closeDrawer);
  $("title").addEventListener("dblclick", () => state.session && rename(state.session));
  $("lang").addEventListener("click", (event) => { const one = event.target.closest("[data-lang]"); if (one && one.dataset.lang !== lang()) choose(one.dataset.lang).catch((error) => toast(error.message, { error: true })); });
  $("theme").addEventListener("click", (event) => { const one = event.target.closest("[data-theme-choice]"); if (one) setTheme(one.dataset.themeChoice); });
  $("session-export").addEventListener("click", (event) => openMenu(event.currentTarget, [["html", "doc"], ["md", "doc"], ["json", "download"]].map(([format, name]) => ({ icon: name, label: t(`export.${format === "md" ? "markdown" : format}`), act: () => exportSession(format) }))));
  for (const node of document.querySelectorAll("[data-icon]")) node.prepend(icon(node.dataset.icon));
  if (recall("side") === "closed" && !isPhone()) document.body.classList.add("without-side");

  const [, config] = await Promise.all([loaded, call("GET", "/page/config").catch(() => ({}))]);
  state.config = config;
  label(document);
  drawSwitches();
  drawEngines();
  drawBanner();
  const sessions = loadSessions().catch((error) => { if (error.status === 0) watch(); else toast(error.message, { error: true }); });
  await route();
  await sessions;
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
  if (!isPhone()) $("ask-text").focus();
}

start().catch((error) => {
  $("thread").textContent = `${error.message} — 请刷新页面 · please reload the page`;
});
