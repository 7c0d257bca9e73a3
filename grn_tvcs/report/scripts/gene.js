/* Pages of genes and edges, each with its own link. */
(function (tvcs) {
  "use strict";
  const $ = tvcs.element, edges = tvcs.edges, make = tvcs.make, box = $("page");

  function open(title, note) {
    const close = make("button", "Close", { type: "button", id: "close" });
    close.addEventListener("click", () => tvcs.go("#network"));
    const heading = make("h3", title, { tabindex: "-1" });
    box.replaceChildren(close, heading, make("p", note, { class: "soft" }));
    box.hidden = false;
    return heading;
  }

  /* Facts of an edge, one clause each. */
  function facts(k) {
    const clauses = ["rank " + edges.rank[k], "score " + Number(edges.score[k].toPrecision(4))];
    const value = (name) => tvcs.has(name) && edges[name][k] !== null ? edges[name][k] : null;
    if (value("confidence") !== null) {
      clauses.push("probability of being true " + value("confidence").toFixed(2));
    }
    if (value("false_discovery") !== null) {
      clauses.push("false discovery rate of edges up to this one " +
        Math.round(100 * value("false_discovery")) + " %");
    }
    if (value("stability") !== null) {
      clauses.push("exceeds noise in " + Math.round(100 * value("stability")) +
        " % of the pairs of halves");
    }
    if (tvcs.has("evidence") && edges.evidence[k]) clauses.push("evidence: " + edges.evidence[k]);
    if (edges.selected[k] === "0") clauses.push("outside the caps");
    if (tvcs.has("truth")) {
      clauses.push({ t: "true by the reference", f: "not in the reference",
        "-": "not judged by the reference" }[edges.truth[k]]);
    }
    return clauses;
  }

  /* Edges of a gene, those inside the caps, as a table with links; `other` is the far end. */
  function table(caption, found, other) {
    const inside = found.filter((k) => edges.selected[k] === "1");
    const part = make("div", "", { class: "scroll short", tabindex: "0", role: "region",
      "aria-label": caption });
    const rows = make("table", "");
    const columns = ["confidence", "stability", "evidence"].filter(tvcs.has);
    const head = make("tr", "");
    ["gene", "sign", "score", ...columns, ...tvcs.has("truth") ? ["reference"] : [], "edge"]
      .forEach((name) => head.append(make("th", name, { scope: "col" })));
    rows.append(head);
    inside.forEach((k) => {
      const row = make("tr", ""), gene = make("td", ""), edge = make("td", "");
      gene.append(tvcs.link(other(k)));
      edge.append(make("a", "time courses", { href: tvcs.hash.edge(k),
        "aria-label": "time courses of " + tvcs.describe(k) }));
      row.append(gene, make("td", edges.sign[k] + " " + tvcs.relation(k)),
        make("td", String(Number(edges.score[k].toPrecision(4))), { class: "number" }));
      columns.forEach((name) => row.append(make("td", edges[name][k] === null ? "–"
        : name === "evidence" ? edges[name][k] : edges[name][k].toFixed(2))));
      if (tvcs.has("truth")) {
        row.append(make("td", tvcs.truth[edges.truth[k]], { class: "truth " + edges.truth[k] }));
      }
      row.append(edge);
      rows.append(row);
    });
    part.append(rows);
    const count = inside.length;
    return [make("h4", count + " " + (count === 1 ? caption.slice(0, -1) : caption)),
      ...count ? [part] : []];
  }

  /* How well the held-out steps of a gene are predicted. */
  function predictions(gene) {
    const profile = tvcs.profile(gene);
    if (!profile || profile.gain === null) return [];
    const percent = Math.round(100 * profile.gain);
    return [make("p", percent > 0
      ? "In held-out series, its regulators remove " + percent +
        " % of the squared error of a prediction by its own level alone."
      : "In held-out series, its regulators predict it no better than its own level alone.")];
  }

  function showGene(gene) {
    const heading = open(tvcs.name(gene), tvcs.regulators[gene] + " regulators and " +
      tvcs.targets[gene] + " targets inside the caps.");
    const directed = (found) => found.filter((k) => !tvcs.isUndirected(k));
    const either = [...tvcs.out[gene], ...tvcs.into[gene]].filter(tvcs.isUndirected);
    const other = new Map(either.map((k) => [k, edges.from[k] === gene ? edges.to[k] : edges.from[k]]));
    box.append(...predictions(gene), ...tvcs.courses([[gene, "from", true]]),
      ...table("regulators", directed(tvcs.into[gene]), (k) => edges.from[k]),
      ...table("targets", directed(tvcs.out[gene]), (k) => edges.to[k]),
      ...either.length ? table("partners", either, (k) => other.get(k)) : []);
    tvcs.graph.mark([gene], []);
    return heading;
  }

  function showEdge(k) {
    const text = facts(k).join("; ");
    const heading = open(tvcs.describe(k), text[0].toUpperCase() + text.slice(1) + ".");
    const links = make("p", "Pages of ");
    links.append(tvcs.link(edges.from[k]), " and ", tvcs.link(edges.to[k]), ".");
    box.append(links, ...tvcs.courses([[edges.from[k], "from", false], [edges.to[k], "to", true]]));
    tvcs.graph.mark([edges.from[k], edges.to[k]], [k]);
    return heading;
  }

  function close() {
    box.hidden = true;
    box.replaceChildren();
    tvcs.graph.mark([], []);
  }

  /* The gene or edge of a link of this page, if any. */
  function named(hash) {
    const parameters = new URLSearchParams(hash.slice(1));
    const gene = tvcs.find(parameters.get(parameters.has("edge") ? "edge" : "gene"));
    if (gene === undefined || !parameters.has("edge")) return { gene: gene };
    const target = tvcs.find(parameters.get("target"));
    return { edge: tvcs.out[gene].find((k) => edges.to[k] === target) };
  }

  /* Show the page of the address. */
  function follow() {
    const { gene, edge } = named(location.hash);
    if (gene === undefined && edge === undefined) {
      close();
      return;
    }
    const heading = edge === undefined ? showGene(gene) : showEdge(edge);
    heading.focus({ preventScroll: true });
    box.scrollIntoView({ block: "nearest" });
    if (box.getBoundingClientRect().top > 0.8 * innerHeight) box.scrollIntoView({ block: "start" });
  }

  tvcs.go = (hash) => {
    if (location.hash === hash) follow();
    else location.hash = hash;
  };
  window.addEventListener("hashchange", follow);
  tvcs.on("nothing", () => tvcs.go("#network"));
  tvcs.page = { follow: follow, facts: facts };
})(window.tvcs);
