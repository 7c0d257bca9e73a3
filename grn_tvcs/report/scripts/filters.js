/* Filters: `tvcs.shown` holds the indices of the edges that pass, by rank. */
(function (tvcs) {
  "use strict";
  const $ = tvcs.element, edges = tvcs.edges;
  const lower = tvcs.genes.map((name) => name.toLowerCase());
  const sliders = ["confidence", "stability"].filter((name) => $(name));
  const inputs = ["search", "score", "degree", "regulator", "evidence", "truth", "beside",
    ...sliders].filter((name) => $(name));
  const signs = [...document.querySelectorAll("input[name=sign]")];

  const inside = [...edges.selected].filter((letter) => letter === "1").length;

  const every = (fits) => Uint8Array.from(lower, (name) => fits(name) ? 1 : 0);
  const any = (flags) => flags.includes(1);

  /* Genes that a text means: of this very name, or else with it in their name. */
  function meant(text) {
    const exact = every((name) => name === text);
    return any(exact) ? exact : every((name) => name.includes(text));
  }

  /* A word for each gene that an edge must name; the whole text where a gene has that name. */
  function words(text) {
    if (!text || lower.includes(text)) return text ? [text] : [];
    return text.split(/[\s,;→]+|->/).filter((word) => word);
  }

  function wanted() {
    const text = $("search").value.trim().toLowerCase();
    const regulator = $("regulator").value.trim().toLowerCase();
    return {
      named: words(text).map(meant),
      regulators: regulator ? meant(regulator) : null,
      signs: signs.filter((box) => box.checked).map((box) => box.value).join(""),
      evidence: $("evidence") ? $("evidence").value : "",
      truth: $("truth") ? $("truth").value : "",
      beside: $("beside") ? $("beside").checked : false,
      top: tvcs.n - Number($("score").value),
      degree: Number($("degree").value),
      chances: sliders.map((name) => [edges[name], Number($(name).value)]).filter(([, v]) => v > 0),
    };
  }

  function passes(k, want) {
    const from = edges.from[k], to = edges.to[k];
    if (!want.beside && edges.selected[k] === "0") return false;
    if (!want.signs.includes(edges.sign[k])) return false;
    if (want.regulators && !want.regulators[from]) return false;
    if (want.degree > 1 && (tvcs.degree(from) < want.degree || tvcs.degree(to) < want.degree)) {
      return false;
    }
    if (want.evidence && !edges.evidence[k].split("+").includes(want.evidence)) return false;
    if (want.truth && edges.truth[k] !== want.truth) return false;
    return want.chances.every(([column, least]) => column[k] !== null && column[k] >= least) &&
      want.named.every((genes) => genes[from] || genes[to]);
  }

  function count(text, isBeside) {
    const linked = new Set();
    tvcs.shown.forEach((k) => linked.add(edges.from[k]).add(edges.to[k]));
    $("count").textContent = tvcs.shown.length + " of " + (isBeside ? tvcs.n : inside) +
      " edges, " + linked.size + " of " + tvcs.genes.length + " genes";
    $("score-says").textContent = "≥ " +
      edges.score[tvcs.n - Number($("score").value) - 1].toPrecision(3);
    $("degree-says").textContent = "≥ " + $("degree").value;
    sliders.forEach((name) => {
      $(name + "-says").textContent = "≥ " + Number($(name).value).toFixed(2);
    });
    suggest(text);
  }

  /* Genes that the search means, as links to their pages, also those without an edge. */
  function suggest(text) {
    const found = [], most = 8;
    if (text) {
      const exact = lower.indexOf(text);
      if (exact >= 0) found.push(exact);
      lower.forEach((name, gene) => {
        if (gene !== exact && name.includes(text)) found.push(gene);
      });
    }
    const links = found.slice(0, most).flatMap((gene) => [tvcs.link(gene), " "]);
    $("found").replaceChildren(...!text ? [] : [
      found.length ? found.length + (found.length === 1 ? " gene: " : " genes: ")
        : "No gene has this in its name.",
      ...links, ...found.length > most ? ["…"] : []]);
  }

  function filter() {
    const want = wanted(), shown = [];
    for (let k = 0; k < want.top; k++) if (passes(k, want)) shown.push(k);
    tvcs.shown = shown;
    count($("search").value.trim().toLowerCase(), want.beside);
    tvcs.emit("filtered");
  }

  function reset() {
    inputs.forEach((name) => { $(name).value = $(name).type === "range" ? $(name).min : ""; });
    if ($("beside")) $("beside").checked = false;
    signs.forEach((box) => { box.checked = true; });
  }

  /* The active filters in words; empty if there are none. */
  function describe() {
    const active = inputs.map((name) => [$(name), name]).filter(([input, name]) =>
      input.type === "checkbox" ? input.checked
        : input.type === "range" ? input.value !== input.min : input.value)
      .map(([input, name]) => name === "score" ? "score " + $("score-says").textContent
        : name === "beside" ? "including edges outside the caps"
          : name + " " + (input.type === "range" ? "≥ " : "") + input.value);
    const off = signs.filter((box) => !box.checked).map((box) => box.value);
    return [...active, ...off.length ? ["without " + off.map((s) => tvcs.verb[s]).join(", ")] : []]
      .join("; ");
  }

  $("score").max = tvcs.n - 1;
  $("degree").max = tvcs.genes.reduce((most, _, gene) => Math.max(most, tvcs.degree(gene)), 1);
  reset();
  const offer = (list, genes) => $(list).append(
    ...genes.slice(0, 5000).map((gene) => tvcs.make("option", "", { value: tvcs.name(gene) })));
  const all = tvcs.genes.map((_, gene) => gene);
  offer("names", all);
  offer("regulators", all.filter((gene) => tvcs.out[gene].length));
  [...inputs.map($), ...signs].forEach((input) => input.addEventListener("input", filter));
  $("reset").addEventListener("click", () => { reset(); filter(); });
  tvcs.filter = filter;
  tvcs.describeFilters = describe;
})(window.tvcs);
