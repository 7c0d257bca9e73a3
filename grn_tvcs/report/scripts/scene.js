/* A drawing of genes and edges as shapes, which the canvas and the SVG file both show. */
(function (tvcs) {
  "use strict";
  const edges = tvcs.edges, kinds = { "+": "--fill", "-": "--other", "?": "--soft" };
  const strongest = edges.score.reduce((most, score) => Math.max(most, score), 1e-300);
  const print = {
    "--paper": "#ffffff", "--wash": "#ffffff", "--ink": "#1d2733", "--soft": "#5b6878",
    "--fill": "#2f6f9f", "--other": "#b8532f", "--mark": "#d9a400",
  };
  const tenth = (x) => Math.round(10 * x) / 10;

  /* An edge from rim to rim: start, bend, end, and the direction in which it ends. */
  function arrow(from, to, isMutual) {
    const length = Math.max(Math.hypot(to.x - from.x, to.y - from.y), 1e-9);
    const ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
    const bend = isMutual ? 0.12 * length : 0;
    const bx = (from.x + to.x) / 2 - uy * bend, by = (from.y + to.y) / 2 + ux * bend;
    const last = Math.max(Math.hypot(to.x - bx, to.y - by), 1e-9);
    const vx = (to.x - bx) / last, vy = (to.y - by) / last, gap = to.radius + 2;
    return {
      ax: from.x + ux * from.radius, ay: from.y + uy * from.radius, bx: bx, by: by,
      cx: to.x - vx * gap, cy: to.y - vy * gap, vx: vx, vy: vy,
    };
  }

  /* The head in the edge's own size: a triangle activates, a bar represses, a fork is unknown, and
     an undirected edge has none. */
  function head(line, sign, size) {
    if (tvcs.isUndirected(line.edge)) return { points: [], isFilled: false };
    const { cx, cy, vx, vy } = line;
    const at = (back, side) =>
      [cx - size * (back * vx + side * vy), cy - size * (back * vy - side * vx)];
    if (sign === "+") return { points: [[cx, cy], at(2, 0.9), at(2, -0.9)], isFilled: true };
    if (sign === "-") return { points: [at(0, 1.4), at(0, -1.4)], isFilled: false };
    return { points: [at(1.6, 1), [cx, cy], at(1.6, -1)], isFilled: false };
  }

  const strength = (k) => Math.sqrt(edges.score[k] / strongest);

  /* Supported edges are thick and the others thin; without confidences the score decides. */
  function weight(k) {
    if (!tvcs.has("confidence")) {
      return { width: 1 + 1.8 * strength(k), opacity: 0.35 + 0.6 * strength(k) };
    }
    return tvcs.isSupported(k) ? { width: 2.6, opacity: 0.9 } : { width: 0.9, opacity: 0.5 };
  }

  /* Edges as shapes; a false one is dashed where a reference is known. */
  function lines(nodes, drawn) {
    const pairs = new Set(drawn.map((k) => edges.from[k] * tvcs.genes.length + edges.to[k]));
    return drawn.map((k) => {
      const isMutual = pairs.has(edges.to[k] * tvcs.genes.length + edges.from[k]);
      return {
        edge: k, sign: edges.sign[k], colour: kinds[edges.sign[k]],
        ...weight(k),
        isFalse: tvcs.has("truth") && edges.truth[k] === "f",
        ...arrow(nodes.get(edges.from[k]), nodes.get(edges.to[k]), isMutual),
      };
    });
  }

  const escaped = (text) => text.replace(/[&<>"'\t\n\r]/g, (c) => "&#" + c.charCodeAt(0) + ";")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");

  function line(part) {
    const tip = head(part, part.sign, 3 + part.width), colour = print[part.colour];
    const points = tip.points.map((point) => point.map(tenth).join(" ")).join("L");
    const [ax, ay, bx, by, cx, cy] = ["ax", "ay", "bx", "by", "cx", "cy"].map((p) => tenth(part[p]));
    return `<g stroke="${colour}" opacity="${part.opacity.toFixed(2)}" data-edge="` +
      escaped(tvcs.describe(part.edge)) + `"><title>${escaped(tvcs.describe(part.edge))}</title>` +
      `<path fill="none" stroke-width="${part.width.toFixed(2)}"` +
      (part.isFalse ? ' stroke-dasharray="5 4"' : "") +
      ` d="M${ax} ${ay}Q${bx} ${by} ${cx} ${cy}"/>` + (points ? '<path stroke-width="1.6" fill="' +
      (tip.isFilled ? colour : "none") + `" d="M${points}${tip.isFilled ? "Z" : ""}"/>` : "") + "</g>";
  }

  function dot(node) {
    const x = tenth(node.x), y = tenth(node.y), name = escaped(tvcs.name(node.gene));
    return `<circle cx="${x}" cy="${y}" r="${tenth(node.radius)}" stroke="${print["--ink"]}" ` +
      `stroke-width="1.4" fill="${print[node.targets ? "--ink" : "--paper"]}" data-gene="${name}">` +
      `<title>${name}</title></circle>`;
  }

  function label(node, size) {
    return `<text x="${tenth(node.x)}" y="${tenth(node.y + node.radius + size)}" ` +
      `font-size="${tenth(size)}">${escaped(tvcs.name(node.gene))}</text>`;
  }

  /* A file of its own in the colours of print; every gene is named. */
  function svg(nodes, drawn, title) {
    const all = [...nodes.values()], margin = 30;
    const bounds = box(all, margin);
    const size = 11 * Math.max(1, Math.min(2, bounds.width / 1600));
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${tenth(bounds.x)} ` +
      `${tenth(bounds.y)} ${tenth(bounds.width)} ${tenth(bounds.height)}" ` +
      `width="${Math.round(bounds.width)}" height="${Math.round(bounds.height)}">` +
      `<title>${escaped(title)}</title>` +
      `<rect x="${tenth(bounds.x)}" y="${tenth(bounds.y)}" width="100%" height="100%" fill="#fff"/>` +
      lines(nodes, drawn).map(line).join("\n") + all.map(dot).join("\n") +
      `<g font-family="system-ui, sans-serif" text-anchor="middle" fill="${print["--ink"]}" ` +
      'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke">' +
      all.map((node) => label(node, size)).join("\n") + "</g></svg>\n";
  }

  /* The rectangle around some genes. */
  function box(all, margin) {
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    all.forEach((node) => {
      const reach = node.radius + margin;
      x0 = Math.min(x0, node.x - reach);
      x1 = Math.max(x1, node.x + reach);
      y0 = Math.min(y0, node.y - reach);
      y1 = Math.max(y1, node.y + reach);
    });
    if (!all.length) [x0, y0, x1, y1] = [0, 0, 1, 1];
    return { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
  }

  tvcs.scene = { lines: lines, head: head, box: box, svg: svg };
})(window.tvcs);
