/* Places of genes by forces: linked genes attract each other, all others repel, hubs the most. */
(function (tvcs) {
  "use strict";
  const many = 800;  // genes: beyond, fewer and rougher steps
  const places = new Map(tvcs.data.places.map(([gene, x, y]) => [gene, { x: x, y: y }]));

  const radius = (targets) => 5 + 2.2 * Math.sqrt(targets);

  /* Genes of some edges, each where it was, or else beside a gene that it is linked to. */
  function nodesOf(drawn) {
    const nodes = new Map(), edges = tvcs.edges;
    const add = (gene, beside) => {
      if (!nodes.has(gene)) {
        const known = places.get(gene), near = places.get(beside);
        const turn = nodes.size * 2.4;  // the golden angle spreads new genes around
        const at = known || (near
          ? { x: near.x + 40 * Math.cos(turn), y: near.y + 40 * Math.sin(turn) } : {});
        nodes.set(gene, { gene: gene, x: at.x, y: at.y, targets: 0, links: 0 });
      }
      return nodes.get(gene);
    };
    drawn.forEach((k) => {
      const from = add(edges.from[k], edges.to[k]), to = add(edges.to[k], edges.from[k]);
      from.targets += 1;
      from.links += 1;
      to.links += 1;
    });
    nodes.forEach((node) => { node.radius = radius(node.targets); });
    return nodes;
  }

  /* A simulation that `step` moves on until `isDone`. */
  function simulate(nodes, drawn) {
    const edges = tvcs.edges, all = [...nodes.values()];
    const links = drawn.map((k) =>
      ({ source: nodes.get(edges.from[k]), target: nodes.get(edges.to[k]) }));
    const ticks = all.length > many ? 120 : 260;
    const simulation = d3.forceSimulation(all).stop()
      .alphaDecay(1 - Math.pow(0.001, 1 / ticks))
      // A link between hubs is long, one to a gene with few links is short.
      .force("link", d3.forceLink(links).distance((link) =>
        24 + 14 * Math.sqrt(Math.min(link.source.links, link.target.links))))
      .force("apart", d3.forceManyBody().theta(all.length > many ? 1.2 : 0.9)
        .strength((node) => -60 - 24 * node.links))
      .force("touch", d3.forceCollide((node) => node.radius + 5).iterations(1))
      .force("x", d3.forceX(0).strength(0.06))
      .force("y", d3.forceY(0).strength(0.075));
    let done = 0;
    const keep = () => all.forEach((node) => places.set(node.gene, { x: node.x, y: node.y }));
    return {
      nodes: nodes,
      step: () => { simulation.tick(); done += 1; if (done === ticks) keep(); },
      isDone: () => done >= ticks,
      move: (node, x, y) => { node.x = x; node.y = y; places.set(node.gene, { x: x, y: y }); },
    };
  }

  tvcs.layout = { nodesOf: nodesOf, simulate: simulate };
})(window.tvcs);
