// The page of a worker: keys, no reload between tasks, and an answer that is kept until it is sent.
"use strict";

const main = document.getElementById("main");
const unsent = document.getElementById("unsent");
const KEPT = "tvcs-unsent";
const RETRY = 5000;
let isBusy = false;
let retry = 0;

function show(html) {
  const had = document.getElementById("turn").dataset.state;
  main.innerHTML = html;
  const turn = document.getElementById("turn");
  const first = turn.querySelector("#answer button");
  if (first) first.focus();
  else if (had === "task") turn.querySelector("h1").focus?.();
  askLater();
}

async function send(path, body) {
  const answer = await fetch(path, { method: "POST", body, headers: { "X-Part": "main" } });
  if (answer.status === 429 || answer.status === 503) throw new Error("later");
  return answer;
}

async function post(path, fields) {
  if (isBusy) return;
  isBusy = true;
  try {
    const answer = await send(path, new URLSearchParams(fields));
    localStorage.removeItem(KEPT);
    unsent.hidden = true;
    if (answer.ok) show(await answer.text());
    else await refused(answer);
  } catch {
    localStorage.setItem(KEPT, JSON.stringify([path, fields]));
    unsent.textContent = "Your answer is kept here and not sent yet: the desk cannot be reached. It is tried again.";
    unsent.hidden = false;
    retry = setTimeout(again, RETRY);
    return;
  }
  isBusy = false;
}

async function refused(answer) {
  const said = await answer.json().then((told) => told.detail, () => "That was not taken.");
  await reload();
  const line = document.createElement("p");
  line.className = "bad";
  line.setAttribute("role", "alert");
  line.textContent = said;
  document.getElementById("turn").prepend(line);
}

async function reload() {
  try {
    const answer = await fetch("/", { headers: { "X-Part": "main" } });
    if (answer.ok) show(await answer.text());
  } catch { askLater(); }
}

function again() {
  clearTimeout(retry);
  if (!unsent.hidden) isBusy = false;  // it waits for nothing else
  const kept = localStorage.getItem(KEPT);
  if (kept) post(...JSON.parse(kept));
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
  const fields = [...new FormData(form)];
  if (event.submitter && event.submitter.name) fields.push([event.submitter.name, event.submitter.value]);
  post(form.getAttribute("action"), fields);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select, textarea")) return;
  const key = event.key.toUpperCase();
  const button = document.querySelector(`button[aria-keyshortcuts="${CSS.escape(key)}"]`);
  if (!button || event.repeat) return;
  event.preventDefault();
  if (key === "S" && !document.getElementById("reason").value) document.getElementById("reason").focus();
  else button.click();
});

window.addEventListener("online", again);
again();
askLater();
