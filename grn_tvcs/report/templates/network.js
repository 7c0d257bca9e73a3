/* The network of a report: filter it, search it, and click an edge to see its time courses.
   Everything that is shown comes from the data block and is set as text, never as markup. */
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const levels = new Map(data.levels);
  const verb = { "+": "activates", "-": "represses", "?": "regulates" };
  const arrow = { "+": "triangle", "-": "tee", "?": "vee" };
  const colour = { "+": "--fill", "-": "--other", "?": "--soft" };
  const strongest = Math.max(...data.edges.map((e) => e.score));
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const rest = data.undrawn.genes.map(([name, ins, outs]) => ({ name: name, in: ins, out: outs }));
  const everyone = data.genes.concat(rest);
  const name = (number) => everyone[number].name;
  const degree = (gene) => gene.in + gene.out;

  function make(tag, text, attributes) {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
    return element;
  }

  function draw(tag, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  }

  // Many genes get a wider sheet: names appear as one zooms in, those of hubs first.
  const wide = Math.max(1, Math.sqrt(data.genes.length / 40));
  $("static").hidden = true;
  $("explorer").hidden = false;
  if ($("few-names")) $("few-names").hidden = true;
  if ($("beyond")) $("beyond").hidden = !rest.length;
  const elements = data.genes.map((gene, k) => ({
    group: "nodes",
    data: { id: "g" + k, number: k, name: gene.name, size: 2 * gene.radius * Math.sqrt(wide),
      font: Math.min(12 + 6 * (wide - 1) * Math.sqrt(gene.out), 36) },
    position: { x: wide * gene.x, y: wide * gene.y },
    classes: gene.out ? "regulator" : "",
  })).concat(data.edges.map((edge, k) => ({
    group: "edges",
    data: {
      id: "e" + k, number: k, source: "g" + edge.from, target: "g" + edge.to,
      width: 1.2 + 2.2 * Math.sqrt(edge.score / strongest),
      strength: 0.4 + 0.6 * Math.sqrt(edge.score / strongest), arrow: arrow[edge.sign],
    },
    classes: verb[edge.sign],
  })));

  function look() {
    const edges = Object.keys(verb).map((sign) => ({
      selector: "edge." + verb[sign],
      style: { "line-color": css(colour[sign]), "target-arrow-color": css(colour[sign]) },
    }));
    return [
      { selector: "node", style: {
        width: "data(size)", height: "data(size)", "background-color": css("--paper"),
        "border-width": 1.5, "border-color": css("--ink"), label: "data(name)",
        color: css("--ink"), "font-size": "data(font)", "font-family": "system-ui, sans-serif",
        "text-valign": "bottom", "text-margin-y": 3, "text-wrap": "ellipsis",
        "text-max-width": (node) => 9 * node.data("font") + "px", "text-outline-width": 2, "text-outline-color": css("--wash"),
        "min-zoomed-font-size": 7 } },
      { selector: "node.regulator", style: { "background-color": css("--ink") } },
      { selector: "edge", style: {
        width: "data(width)", opacity: "data(strength)", "curve-style": "bezier",
        "target-arrow-shape": "data(arrow)", "arrow-scale": 0.9 } },
      ...edges,
      { selector: ".faded", style: { opacity: 0.12 } },
      { selector: ".out", style: { display: "none" } },
      { selector: "node.found", style: { "border-width": 4, "border-color": css("--mark") } },
      { selector: "edge.found", style: {
        opacity: 1, width: 5, "underlay-color": css("--mark"), "underlay-opacity": 0.35,
        "underlay-padding": 4 } },
    ];
  }

  const cy = cytoscape({
    container: $("graph"), elements: elements, layout: { name: "preset" }, style: look(),
    minZoom: 0.1, maxZoom: 6, userZoomingEnabled: false, boxSelectionEnabled: false,
    autounselectify: true,
  });
  const fit = () => cy.fit(cy.elements().not(".out"), 24);
  fit();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(look()));
  // The wheel scrolls the page until the network was touched.
  $("graph").addEventListener("pointerdown", () => cy.userZoomingEnabled(true));
  $("graph").addEventListener("pointerleave", () => cy.userZoomingEnabled(false));

  function filter() {
    const count = Number($("surest").value), least = Number($("degree").value);
    const shown = (edge, k) => k < count &&
      degree(data.genes[edge.from]) >= least && degree(data.genes[edge.to]) >= least;
    const linked = new Set();
    let n = 0;
    cy.batch(() => {
      data.edges.forEach((edge, k) => {
        const is_shown = shown(edge, k);
        cy.getElementById("e" + k).toggleClass("out", !is_shown);
        if (is_shown) { linked.add(edge.from).add(edge.to); n += 1; }
      });
      data.genes.forEach((_, k) => cy.getElementById("g" + k).toggleClass("out", !linked.has(k)));
    });
    $("surest-says").textContent =
      count ? "score ≥ " + data.edges[count - 1].score.toPrecision(3) : "none";
    $("degree-says").textContent = "≥ " + least;
    const all = data.edges.length + data.undrawn.all_edges;
    $("count").textContent = n + " of " + all + " edges, " +
      linked.size + (rest.length ? " of " + everyone.length : "") + " genes";
  }

  function mark(found, near) {
    cy.batch(() => {
      cy.elements().removeClass("found faded");
      if (!found.length) return;
      cy.elements().not(found.union(near)).addClass("faded");
      found.addClass("found");
    });
  }

  function search() {
    const text = $("search").value.trim().toLowerCase();
    const those = (fits) => everyone.flatMap((gene, k) => fits(gene.name.toLowerCase()) ? [k] : []);
    const exact = those((name) => name === text);
    const found = !text ? [] : exact.length ? exact : those((name) => name.includes(text));
    const drawn = found.filter((k) => k < data.genes.length);
    const nodes = drawn.reduce((all, k) => all.union(cy.getElementById("g" + k)), cy.collection());
    mark(nodes, nodes.closedNeighborhood());
    $("found").textContent = !text || found.length === 1 ? "" : "· " + (found.length || "no") +
      " genes found" + (drawn.length < found.length ? ", " + drawn.length + " of them drawn" : "");
    if (found.length === 1) showGene(found[0]);
  }

  function panel(title, note) {
    $("panel").replaceChildren(make("h3", title), make("p", note, { class: "soft" }));
    return $("panel");
  }

  function showGene(k) {
    const gene = everyone[k], node = cy.getElementById("g" + k);
    mark(node, node.closedNeighborhood());
    const box = panel(gene.name, gene.in + " regulators and " + gene.out + " targets selected" +
      (k < data.genes.length ? "." : "; not drawn."));
    const list = make("p", "");
    data.edges.forEach((edge, e) => {
      if (edge.from !== k && edge.to !== k) return;
      const words = [name(edge.from), verb[edge.sign], name(edge.to)].join(" ");
      const button = make("button", words, { type: "button" });
      button.addEventListener("click", () => showEdge(e));
      list.append(button, " ");
    });
    box.append(list);
    const more = data.undrawn.edges.filter(([from, to]) => from === k || to === k);
    const told = list.children.length + more.length;
    if (more.length) {
      box.append(make("p", "Not drawn: " + more.map(([from, to, sign, score, rank]) =>
        [name(from), verb[sign], name(to)].join(" ") + " (rank " + rank + ")").join(", ") + "."));
    }
    if (told < degree(gene)) box.append(make("p", "More of its edges are in edges.tsv."));
  }

  function range(gene) {
    const all = levels.get(gene).flat();
    return [Math.min(...all), Math.max(...all)];
  }

  /* One series: both genes over time, each from its lowest to its highest level anywhere. */
  function course(s, genes) {
    const width = 200, height = 96, series = data.series[s], times = series.times;
    const first = Math.min(...times), span = Math.max(...times) - first || 1;
    const x = (t) => 4 + (width - 8) * (t - first) / span;
    const svg = draw("svg", { viewBox: "0 0 " + width + " " + (height + 18), role: "img" });
    series.perturbed.forEach((on, i) => {
      if (!on) return;
      const end = i + 1 < times.length ? x(times[i + 1]) : width - 4;
      svg.append(draw("rect", { x: x(times[i]), y: 2, width: end - x(times[i]), height: height,
        class: "perturbed" }));
    });
    svg.append(draw("rect", { x: 2, y: 2, width: width - 4, height: height, class: "frame" }));
    genes.forEach(([gene, kind]) => {
      const [low, high] = range(gene);
      const y = (level) => 8 + (height - 12) * (1 - (level - low) / (high - low || 1));
      const points = levels.get(gene)[s].map((level, i) =>
        x(times[i]).toFixed(1) + " " + y(level).toFixed(1));
      svg.append(draw("path", { d: "M" + points.join("L"), class: kind }));
    });
    const label = draw("text", { x: 4, y: height + 15 });
    label.textContent = "series " + series.name;
    svg.append(label);
    return svg;
  }

  function showEdge(k) {
    const edge = data.edges[k], from = name(edge.from), to = name(edge.to);
    const line = cy.getElementById("e" + k);
    mark(line, line.connectedNodes());
    const box = panel([from, verb[edge.sign], to].join(" "),
      "Rank " + edge.rank + ", score " + edge.score.toPrecision(4) + (edge.stability === null ? ""
        : ", stands out in " + Math.round(100 * edge.stability) + " % of all pairs of halves") + "." +
      (edge.evidence ? " Evidence: " + edge.evidence + "." : ""));
    if (!levels.has(from) || !levels.has(to)) {
      box.append(make("p", "The time courses of these genes are not in this file, to keep it small."));
      return;
    }
    const key = make("p", "", { class: "soft" });
    key.append(make("span", "", { class: "key from" }), from,
      make("span", "", { class: "key to" }), to + ", each on its own scale" +
      (data.series.some((s) => s.perturbed.includes(1)) ? "; shaded while perturbed" : "") +
      (data.all_series > data.series.length
        ? "; the first " + data.series.length + " of " + data.all_series + " series" : "") + ".");
    const grid = make("div", "", { class: "courses" });
    data.series.forEach((_, s) => grid.append(course(s, [[from, "from"], [to, "to"]])));
    box.append(key, grid);
  }

  function save() {
    const link = make("a", "", { download: "network.png" });
    link.href = cy.png({ full: true, scale: 3, bg: css("--paper") });
    link.click();
  }

  everyone.slice(0, 5000).forEach((gene) => $("names").append(make("option", "", { value: gene.name })));
  $("surest").max = data.edges.length;
  $("surest").value = data.edges.length;
  $("degree").max = Math.max(...data.genes.map(degree));
  $("surest").addEventListener("input", filter);
  $("degree").addEventListener("input", filter);
  $("search").addEventListener("input", search);
  $("fit").addEventListener("click", fit);
  $("save").addEventListener("click", save);
  cy.on("tap", "edge", (event) => showEdge(event.target.data("number")));
  cy.on("tap", "node", (event) => showGene(event.target.data("number")));
  cy.on("tap", (event) => { if (event.target === cy) mark(cy.collection(), cy.collection()); });
  document.querySelectorAll("tr[data-edge]").forEach((row) => {
    const button = make("button", "show", { type: "button" });
    button.addEventListener("click", () => {
      showEdge(Number(row.dataset.edge));
      $("explorer").scrollIntoView({ block: "start" });
    });
    row.append(document.createElement("td"));
    row.lastChild.append(button);
  });
  filter();
  showEdge(0);
  mark(cy.collection(), cy.collection());
  document.documentElement.dataset.ready = "yes";
  window.tvcsNetwork = cy;
})();
