// The page of a worker: keys, no reload between tasks, and an answer that is kept until it is sent.
"use strict";

const main = document.getElementById("main");
const unsent = document.getElementById("unsent");
const ROOT = main.dataset.root;
const KEPT = `unsent ${main.dataset.campaign}`;  // another desk of this host keeps its own
const LEAST = 1000 * Number(main.dataset.least);
const RETRY = 5000;
const FINAL = [400, 409, 413];  // the desk has read it and says why it does not take it
const AWAY = "The server cannot be reached. Your answer is kept here and will be sent again.";
const LOGGED_OUT = "Your answer is kept here. Open your link again to send it.";
const NO_PICTURE = "The picture cannot be shown. Please skip the task, with the reason.";
let isBusy = false;
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
    image.addEventListener("load", () => { shownAt = performance.now(); });
    image.addEventListener("error", () => say(NO_PICTURE));
    if (image.complete && !image.naturalWidth) say(NO_PICTURE);
  }
  askLater();
}

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
  if (isAnswer && images.some((image) => !image.complete)) return "The picture is still loading. Wait for it, then answer.";
  if (performance.now() - shownAt < LEAST) return "That was too fast, so nothing was sent. Look at the task, then answer.";
  return "";
}

async function send(path, body) {
  const answer = await fetch(path, { method: "POST", body, headers: { "X-Part": "main" } });
  if (!answer.ok && !FINAL.includes(answer.status)) throw new Error(answer.status === 401 ? LOGGED_OUT : AWAY);
  return answer;
}

async function post(path, fields) {
  if (isBusy) return;
  isBusy = true;
  try {
    const answer = await send(path, new URLSearchParams(fields));
    const text = await answer.text();  // an answer that broke off counts for nothing
    keep(null);
    unsent.hidden = true;
    if (answer.ok) show(text);
    else await refused(text);
  } catch (error) {
    keep([path, fields]);
    unsent.textContent = error.message === LOGGED_OUT ? LOGGED_OUT : AWAY;
    unsent.hidden = false;
    clearTimeout(retry);
    retry = setTimeout(again, RETRY);
    return;
  }
  isBusy = false;
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
  let message = "The answer was not accepted.";
  try { message = JSON.parse(text).detail || message; } catch { /* it is no JSON */ }
  await reload();
  say(message);
}

async function reload() {
  try {
    const answer = await fetch(`${ROOT}/`, { headers: { "X-Part": "main" } });
    if (answer.ok) show(await answer.text());
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
  post(form.getAttribute("action"), fields);
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
  const isText = at.matches("input, select, textarea");
  if (event.repeat && (event.key === "Enter" || (!isText && at.matches("button, summary")))) {
    event.preventDefault();  // one press is one answer
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isText) return;
  const key = keyOf(event);
  const button = key && document.querySelector(`button[aria-keyshortcuts="${key}"]`);
  if (!button) return;
  event.preventDefault();
  if (event.repeat) return;
  if (key === "S" && !document.getElementById("reason").value) document.getElementById("reason").focus();
  else button.click();
});

history.scrollRestoration = "manual";
window.addEventListener("online", again);
begin("");
again();
