/* Data of a report for the other scripts: genes, edges as columns, time courses.
   All content comes from the data block and is set as text, never as markup. */
window.tvcs = (function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const edges = data.edges, genes = data.genes, n = edges.from.length;
  const verb = { "+": "activates", "-": "represses", "?": "regulates" };
  const isUndirected = (k) => "undirected" in edges && edges.undirected[k] === "1";
  const truth = { t: "true", f: "false", "-": "not judged" };
  const relation = (k) => isUndirected(k) ? "is associated with" : verb[edges.sign[k]];
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const value = new Map([...letters].map((letter, k) => [letter, k]));
  const nothing = 4095, finest = 4094;

  // Edges that leave and enter each gene, and how many of them lie inside the caps.
  const out = genes.map(() => []), into = genes.map(() => []);
  const targets = new Int32Array(genes.length), regulators = new Int32Array(genes.length);
  const partners = new Int32Array(genes.length);  // by undirected edges, which may be read either way
  for (let k = 0; k < n; k++) {
    out[edges.from[k]].push(k);
    into[edges.to[k]].push(k);
    if (edges.selected[k] === "1") {
      targets[edges.from[k]] += 1;
      regulators[edges.to[k]] += 1;
      if (isUndirected(k)) {
        targets[edges.to[k]] += 1;
        regulators[edges.from[k]] += 1;
        partners[edges.from[k]] += 1;
        partners[edges.to[k]] += 1;
      }
    }
  }
  const number = new Map(genes.map((name, k) => [name, k]));
  const profiles = new Map(data.profiles.map((profile) => [profile[0], profile]));
  const heard = {};

  // Hide the static page, which is for browsers without scripts.
  document.documentElement.classList.add("scripts");
  document.getElementById("static").hidden = true;
  ["drawing", "explorer"].forEach((id) => { document.getElementById(id).hidden = false; });

  /* Levels of every series from two letters a value; null if missing. */
  function decoded(text, low, high) {
    const steps = [];
    for (let k = 0; k < text.length; k += 2) {
      const step = 64 * value.get(text[k]) + value.get(text[k + 1]);
      steps.push(step === nothing ? null : low + (high - low) * step / finest);
    }
    let start = 0;
    return data.series.map((series) => {
      start += series.times.length;
      return steps.slice(start - series.times.length, start);
    });
  }

  /* Levels and predictions of a gene by series; null if the page does not have them. */
  function profile(gene) {
    if (!profiles.has(gene)) return null;
    const [, low, high, levels, expected, gain] = profiles.get(gene);
    return {
      low: low, high: high, gain: gain, levels: decoded(levels, low, high),
      expected: expected ? decoded(expected, low, high) : null,
    };
  }

  function make(tag, text, attributes) {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
    return element;
  }

  const hash = {
    gene: (gene) => "#gene=" + encodeURIComponent(genes[gene]),
    edge: (k) => "#edge=" + encodeURIComponent(genes[edges.from[k]]) + "&target=" +
      encodeURIComponent(genes[edges.to[k]]),
  };

  return {
    data: data, edges: edges, genes: genes, n: n, verb: verb, truth: truth,
    out: out, into: into, targets: targets, regulators: regulators, hash: hash,
    profile: profile, make: make,
    element: (id) => document.getElementById(id),
    name: (gene) => genes[gene],
    find: (name) => number.get(name),
    degree: (gene) => targets[gene] + regulators[gene] - partners[gene],
    link: (gene) => make("a", genes[gene], { href: hash.gene(gene) }),
    has: (column) => column in edges,
    isSupported: (k) => edges.confidence[k] >= data.likely,
    /* "A activates B" */
    describe: (k) => [genes[edges.from[k]], relation(k), genes[edges.to[k]]].join(" "),
    relation: relation, isUndirected: isUndirected,
    on: (event, listener) => (heard[event] = heard[event] || []).push(listener),
    emit: (event, fact) => (heard[event] || []).forEach((listener) => listener(fact)),
  };
})();
