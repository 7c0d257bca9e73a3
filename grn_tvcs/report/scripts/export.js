/* Files of the filtered edges: the table, and the drawing as SVG and PNG. */
(function (tvcs) {
  "use strict";
  const $ = tvcs.element, edges = tvcs.edges;
  const extra = ["stability", "evidence", "confidence", "false_discovery", "undirected"].filter(tvcs.has);

  /* A name that a spreadsheet would run as a formula gets an apostrophe, as in edges.tsv. */
  function shielded(name) {
    const isNumber = /^[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$/.test(name);
    return /^'*[=+\-@\t\r]/.test(name) && !isNumber ? "'" + name : name;
  }

  function cell(value) {
    const text = value === null ? "" : String(value);
    return /[\t\r\n"]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  /* The edges of the list in its order, with the columns of edges.tsv. */
  function table(found) {
    const header = ["regulator", "target", "score", "sign", "rank", "selected", ...extra,
      ...tvcs.has("truth") ? ["reference"] : []];
    const rows = found.map((k) => [
      shielded(tvcs.name(edges.from[k])), shielded(tvcs.name(edges.to[k])), edges.score[k],
      edges.sign[k], edges.rank[k], edges.selected[k], ...extra.map((name) => edges[name][k]),
      ...tvcs.has("truth") ? [tvcs.truth[edges.truth[k]]] : [],
    ]);
    return [header, ...rows].map((row) => row.map(cell).join("\t")).join("\n") + "\n";
  }

  function save(name, blob) {
    const link = tvcs.make("a", "", { download: name });
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const title = () => document.title + (tvcs.describeFilters() ? " (" + tvcs.describeFilters() + ")" : "");

  $("save-table").addEventListener("click", () => save("edges-filtered.tsv",
    new Blob([table(tvcs.list.found())], { type: "text/tab-separated-values" })));
  $("save-svg").addEventListener("click", () => save("network.svg",
    new Blob([tvcs.graph.svg(title())], { type: "image/svg+xml" })));
  $("save-png").addEventListener("click", () =>
    tvcs.graph.canvas.toBlob((blob) => save("network.png", blob)));

  /* Print the drawing and the top filtered edges. */
  window.addEventListener("beforeprint", () => {
    const most = 100, found = tvcs.list.found(), filters = tvcs.describeFilters();
    const picture = tvcs.make("img", "", { alt: "The network",
      src: "data:image/svg+xml," + encodeURIComponent(tvcs.graph.svg(title())) });
    const rows = tvcs.make("table", ""), head = tvcs.make("tr", "");
    tvcs.list.columns.forEach(([, heading]) => head.append(tvcs.make("th", heading)));
    rows.append(head);
    found.slice(0, most).forEach((k) => {
      const row = tvcs.make("tr", "");
      tvcs.list.columns.forEach(([, , shown]) => row.append(tvcs.make("td", shown(k))));
      rows.append(row);
    });
    $("printed").replaceChildren(
      tvcs.make("p", $("count").textContent + (filters ? " (" + filters + ")" : "") + ". " +
        $("drawn").textContent), picture, tvcs.make("p", found.length > most
        ? "The first " + most + " edges of the list:" : "The edges:"), rows);
  });
  tvcs.table = table;
})(window.tvcs);
