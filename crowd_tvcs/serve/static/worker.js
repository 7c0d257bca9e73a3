// The page of a worker: keys, no reload between tasks, and an answer that is kept until it is sent.
"use strict";

const main = document.getElementById("main");
const unsent = document.getElementById("unsent");
const ROOT = main.dataset.root;
const KEPT = `unsent ${main.dataset.campaign}`;  // another desk of this host keeps its own
const LEAST = 1000 * Number(main.dataset.least);
const RETRY = 5000;
const FINAL = [400, 403, 409, 413];  // the desk has read it and says why it does not take it
const TEXTS = JSON.parse(main.dataset.texts);
const sending = document.getElementById("sending");
const SLOW = 300;  // milliseconds after which a line says that something is under way
const ZOOMS = "#content a.zoom";
let isBusy = false;
let slow = 0;
let asked = performance.timeOrigin;  // when the page that is shown was asked for
let over = 0;  // when its task is no longer reserved
let retry = 0;
let shownAt = 0;

function show(html) {
  const had = document.getElementById("turn").dataset.state;
  main.innerHTML = html;
  begin(had);
}

// Whoever reads begins at the top; the focus is on no button, which a held key would press.
function begin(had) {
  const turn = document.getElementById("turn");
  const first = turn.querySelector("#content") || (had === "task" ? turn.querySelector("h1") : null);
  if (first) first.focus({ preventScroll: true });
  scrollTo(0, 0);
  shownAt = performance.now();
  for (const image of turn.querySelectorAll("#content img")) {
    if (image.complete && !image.naturalWidth) say(TEXTS.script_no_picture);
  }
  for (const link of turn.querySelectorAll(ZOOMS)) {  // without script it opens the picture alone
    link.setAttribute("role", "button");
    link.setAttribute("aria-pressed", "false");
  }
  const search = document.getElementById("search");
  if (search) search.hidden = false;
  const lease = document.getElementById("lease");
  over = lease ? asked + 1000 * Number(lease.dataset.seconds) : 0;
  tick();
  askLater();
}

// Listeners are bound once, to what stays: what is shown anew would lose them or collect them.
main.addEventListener("load", (event) => {
  if (event.target.matches("#content img")) shownAt = performance.now();
}, true);
main.addEventListener("error", (event) => {
  if (event.target.matches("#content img")) say(TEXTS.script_no_picture);
}, true);

// The time that is left, counted from the question for the page, so that it never promises more.
function tick() {
  const lease = document.getElementById("lease");
  if (!lease || !over || lease.classList.contains("bad")) return;
  const left = Math.ceil((over - Date.now()) / 1000);
  if (left > 0) {
    lease.textContent = TEXTS.reserved.replace("{time}", `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`);
  } else {
    lease.classList.add("bad");
    lease.setAttribute("role", "alert");
    lease.textContent = TEXTS.over;
  }
}

// A picture twice and a half as wide, about the place that was pressed.
function zoom(link, event) {
  const isLarge = link.classList.toggle("large");
  link.setAttribute("aria-pressed", String(isLarge));
  const box = link.getBoundingClientRect();
  const across = event && event.clientX ? (event.clientX - box.left) / box.width : 0.5;
  const down = event && event.clientY ? (event.clientY - box.top) / box.height : 0.5;
  link.scrollLeft = across * link.scrollWidth - link.clientWidth / 2;
  link.scrollTop = down * link.scrollHeight - link.clientHeight / 2;
}

main.addEventListener("click", (event) => {
  const link = event.target.closest(ZOOMS);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  zoom(link, event);
});

// Answers whose name has what is written; Enter takes the only one.
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const answers = () => [...document.querySelectorAll("#answer fieldset button, #answer .mark")];
const nameOf = (answer) => answer.dataset.label || answer.value;
main.addEventListener("input", (event) => {
  if (event.target.id !== "find") return;
  const sought = plain(event.target.value.trim());
  for (const one of answers()) one.hidden = nameOf(one) && !plain(nameOf(one)).includes(sought);
});
main.addEventListener("keydown", (event) => {
  if (event.target.id !== "find" || event.isComposing) return;
  if (event.key === "Enter") {
    event.preventDefault();  // else the first answer would be sent
    const left = answers().filter((one) => !one.hidden && nameOf(one));
    if (left.length === 1 && !event.repeat) left[0].click();
  } else if (event.key === "Escape") {
    event.target.value = "";
    for (const one of answers()) one.hidden = false;
    document.getElementById("content").focus({ preventScroll: true });
  }
});

function say(text) {
  const there = document.querySelector("#turn > .bad");
  const line = there || document.createElement("p");
  line.className = "bad";
  line.setAttribute("role", "alert");
  line.textContent = text;
  if (!there) document.getElementById("turn").prepend(line);
}

// Why nothing is sent now: nobody has seen the task yet. One whose picture never comes can be skipped.
function unseen(isAnswer) {
  const images = [...document.querySelectorAll("#content img")];
  if (isAnswer && images.some((image) => !image.complete)) return TEXTS.script_loading;
  if (performance.now() - shownAt < LEAST) return TEXTS.script_too_fast;
  return "";
}

async function send(path, body) {
  const answer = await fetch(path, { method: "POST", body, headers: { "X-Part": "main" } });
  if (!answer.ok && !FINAL.includes(answer.status)) throw new Error(answer.status === 401 ? TEXTS.script_logged_out : TEXTS.script_away);
  return answer;
}

async function post(path, fields, button) {
  if (isBusy) {
    sending.textContent = TEXTS.script_sending;
    return;
  }
  isBusy = true;
  if (button) button.classList.add("taken");
  slow = setTimeout(() => { sending.textContent = TEXTS.script_sending; }, SLOW);
  try {
    const before = Date.now();
    const answer = await send(path, new URLSearchParams(fields));
    const text = await answer.text();  // an answer that broke off counts for nothing
    keep(null);
    unsent.hidden = true;
    asked = before;
    quiet();
    if (answer.ok) show(text);
    else await refused(text);
  } catch (error) {
    quiet();
    keep([path, fields]);
    unsent.textContent = error.message === TEXTS.script_logged_out ? error.message : TEXTS.script_away;
    unsent.hidden = false;
    clearTimeout(retry);
    retry = setTimeout(again, RETRY);
    return;
  }
  isBusy = false;
}

function quiet() {
  clearTimeout(slow);
  sending.textContent = "";
}

// In the browser's store, which outlives the page, and in the page, where there is no store.
let held = null;
function keep(what) {
  held = what;
  try {
    if (what) localStorage.setItem(KEPT, JSON.stringify(what));
    else localStorage.removeItem(KEPT);
  } catch { /* full or forbidden: the page holds it as long as it is open */ }
}

function kept() {
  try {
    return held || JSON.parse(localStorage.getItem(KEPT));
  } catch { return held; }
}

async function refused(text) {
  let message = TEXTS.script_refused;
  try { message = JSON.parse(text).detail || message; } catch { /* it is no JSON */ }
  await reload();
  say(message);
}

async function reload() {
  try {
    const before = Date.now();
    const answer = await fetch(`${ROOT}/`, { headers: { "X-Part": "main" } });
    if (!answer.ok) return askLater();
    const text = await answer.text();
    asked = before;
    show(text);
  } catch { askLater(); }
}

function again() {
  clearTimeout(retry);
  if (!unsent.hidden) isBusy = false;  // it waits for nothing else
  const last = kept();
  if (last) post(...last);
}

let waiting = 0;
function askLater() {
  clearTimeout(waiting);
  const state = document.getElementById("turn").dataset.state;
  if (["waiting", "paused", "unknown"].includes(state)) {
    waiting = setTimeout(reload, 1000 * Number(main.dataset.askAgain));
  }
}

main.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  const why = isBusy ? "" : unseen(form.id === "answer");
  if (why) return say(why);
  const fields = [...new FormData(form)];
  if (event.submitter && event.submitter.name) fields.push([event.submitter.name, event.submitter.value]);
  post(form.getAttribute("action"), fields, event.submitter);
});

// The key as it is written on the buttons, also on keyboards whose upper row has other signs, or
// whose letters are not Latin.
function keyOf(event) {
  if (/^[0-9]$/.test(event.key)) return event.key;
  if (!event.shiftKey && /^Digit[0-9]$/.test(event.code)) return event.code.slice(5);
  if (/^[a-z]$/i.test(event.key)) return event.key.toUpperCase();
  return /^Key[A-Z]$/.test(event.code) && event.key > "~" && event.key.length === 1 ? event.code.slice(3) : "";
}

document.addEventListener("keydown", (event) => {
  const at = document.activeElement || document.body;
  const isText = at.matches("input:not([type=checkbox]), select, textarea");
  if (event.repeat && (event.key === "Enter" || (!isText && at.matches("button, summary")))) {
    event.preventDefault();  // one press is one answer
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isText) return;
  if (event.key === " " && at.matches(ZOOMS)) {
    event.preventDefault();
    if (!event.repeat) zoom(at);
    return;
  }
  const isFree = !at.matches("a, button, summary");  // whose own Enter it is not
  const key = event.key === "/" || (event.key === "Enter" && isFree) ? event.key : keyOf(event);
  const one = key && document.querySelector(`[aria-keyshortcuts="${key}"]:not([hidden])`);
  if (!one) return;
  event.preventDefault();
  if (event.repeat) return;
  const first = { S: "reason", C: "comment", "/": "find" }[key];  // where something is to be written
  const text = first && document.getElementById(first);
  if (text && !text.value) text.focus();
  else if (key === "Z") zoom(one);
  else if (key !== "/") one.click();
  else text.focus();
});

history.scrollRestoration = "manual";
window.addEventListener("online", again);
setInterval(tick, 1000);
begin("");
again();
