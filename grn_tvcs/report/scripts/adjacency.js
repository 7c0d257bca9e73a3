/* The matrix of the selected edges: a cell names its edge, and a click opens its page. */
(function (tvcs) {
  "use strict";
  const picture = tvcs.element("adjacency"), note = tvcs.element("cell");
  if (!picture) return;
  const [rows, cols] = tvcs.data.adjacency, frame = picture.querySelector(".frame");

  /* The edge below the pointer, if any. */
  function edgeAt(event) {
    const box = frame.getBoundingClientRect();
    const row = rows[Math.floor((event.clientY - box.top) / box.height * rows.length)];
    const col = cols[Math.floor((event.clientX - box.left) / box.width * cols.length)];
    if (row === undefined || col === undefined) return undefined;
    return tvcs.out[row].find((k) => tvcs.edges.to[k] === col && tvcs.edges.selected[k] === "1");
  }

  note.hidden = false;
  note.textContent = "A cell names its edge here; a click opens the page of the edge.";
  picture.addEventListener("pointermove", (event) => {
    const k = edgeAt(event);
    picture.style.cursor = k === undefined ? "" : "pointer";
    if (k !== undefined) {
      note.textContent = tvcs.describe(k) + ": " + tvcs.page.facts(k).join("; ") + ".";
    }
  });
  picture.addEventListener("click", (event) => {
    const k = edgeAt(event);
    if (k !== undefined) tvcs.go(tvcs.hash.edge(k));
  });
})(window.tvcs);
