// The operator's page: the figures anew every few seconds, unless somebody is about to click there.
"use strict";

const standing = document.getElementById("standing");
const { refresh: seconds, root } = document.querySelector("main").dataset;

async function refresh() {
  const isInUse = standing.contains(document.activeElement) || document.hidden;
  if (!isInUse) {
    try {
      const answer = await fetch(`${root}/operator`, { headers: { "X-Part": "main" } });
      if (answer.redirected || answer.status === 401) location.reload();
      else if (answer.ok) standing.innerHTML = await answer.text();
    } catch { /* the desk is away: the next try may reach it */ }
  }
  setTimeout(refresh, 1000 * seconds);
}

// A round takes up to half a minute: say so, and let nobody ask twice.
const round = document.getElementById("round");  // of an operator who may plan one
if (round) round.addEventListener("submit", (event) => {
  const { submitter, target } = event;
  const working = document.getElementById("working");
  if (target.dataset.busy) { event.preventDefault(); return; }
  target.dataset.busy = "yes";
  working.textContent = "Planning: this may take half a minute.";
  const isFile = !submitter.hasAttribute("formaction");  // saved, so that this page stays
  if (isFile) setTimeout(() => { delete target.dataset.busy; working.textContent = ""; }, 30000);
});
if (round) addEventListener("pageshow", () => {
  delete round.dataset.busy;
  document.getElementById("working").textContent = "";
});

setTimeout(refresh, 1000 * seconds);
