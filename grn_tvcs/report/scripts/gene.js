/* The page of a gene and that of an edge; each has a link of its own. */
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

  /* What is known of an edge, a clause each. */
  function facts(k) {
    const told = ["rank " + edges.rank[k], "score " + Number(edges.score[k].toPrecision(4))];
    const chance = (name) => tvcs.has(name) && edges[name][k] !== null ? edges[name][k] : null;
    if (chance("confidence") !== null) {
      told.push("true with a chance of " + chance("confidence").toFixed(2));
    }
    if (chance("false_discovery") !== null) {
      told.push("of all edges at least as likely " + Math.round(100 * chance("false_discovery")) +
        " % are false");
    }
    if (chance("stability") !== null) {
      told.push("stands out in " + Math.round(100 * chance("stability")) + " % of all pairs of halves");
    }
    if (tvcs.has("evidence") && edges.evidence[k]) told.push("evidence: " + edges.evidence[k]);
    if (edges.selected[k] === "0") told.push("outside the caps");
    if (tvcs.has("truth")) {
      told.push({ t: "true by the reference", f: "not in the reference",
        "-": "not judged by the reference" }[edges.truth[k]]);
    }
    return told;
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
      gene.append(tvcs.link(other[k]));
      edge.append(make("a", "time courses", { href: tvcs.hash.edge(k),
        "aria-label": "time courses of " + tvcs.said(k) }));
      row.append(gene, make("td", edges.sign[k] + " " + tvcs.verb[edges.sign[k]]),
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
  function foretold(gene) {
    const profile = tvcs.profile(gene);
    if (!profile || profile.gain === null) return [];
    const percent = Math.round(100 * profile.gain);
    return [make("p", percent > 0
      ? "In series that were held out, its regulators take away " + percent +
        " % of the squared error that its own level alone leaves."
      : "In series that were held out, its regulators predict it no better than its own level alone.")];
  }

  function showGene(gene) {
    const heading = open(tvcs.name(gene), tvcs.regulators[gene] + " regulators and " +
      tvcs.targets[gene] + " targets inside the caps.");
    box.append(...foretold(gene), ...tvcs.courses([[gene, "from", true]]),
      ...table("regulators", tvcs.into[gene], edges.from),
      ...table("targets", tvcs.out[gene], edges.to));
    tvcs.graph.mark([gene], []);
    return heading;
  }

  function showEdge(k) {
    const text = facts(k).join("; ");
    const heading = open(tvcs.said(k), text[0].toUpperCase() + text.slice(1) + ".");
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

  /* What a link of this page names: a gene, an edge, or nothing. */
  function named(hash) {
    const told = new URLSearchParams(hash.slice(1));
    const gene = tvcs.find(told.get(told.has("edge") ? "edge" : "gene"));
    if (gene === undefined || !told.has("edge")) return { gene: gene };
    const target = tvcs.find(told.get("target"));
    return { edge: tvcs.out[gene].find((k) => edges.to[k] === target) };
  }

  /* Show what the address names. */
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
