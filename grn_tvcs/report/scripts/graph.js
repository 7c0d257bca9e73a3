/* The network on a canvas: laid out anew after filtering, moved and zoomed by mouse and keys. */
(function (tvcs) {
  "use strict";
  const $ = tvcs.element, canvas = $("graph"), pen = canvas.getContext("2d");
  const view = { scale: 1, x: 0, y: 0, isMine: false };  // isMine: the reader has moved it
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const slice = 12;  // milliseconds of layout in a frame
  const many = 600;  // edges: more are drawn paler, so that genes can be seen
  let colours = {}, drawn = [], lines = [], simulation = null, nodes = new Map(), frame = 0;
  let marked = { genes: new Set(), edges: new Set(), near: new Set() };

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    ["--ink", "--soft", "--fill", "--other", "--paper", "--wash", "--mark", "--line"]
      .forEach((name) => { colours[name] = style.getPropertyValue(name).trim(); });
  }

  function resize() {
    const sharp = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(box.width * sharp));
    canvas.height = Math.max(1, Math.round(box.height * sharp));
    view.width = box.width;
    view.height = box.height;
    view.sharp = sharp;
  }

  function fit() {
    const box = tvcs.scene.box([...nodes.values()], 8), margin = 56;  // room for names
    const scale = Math.max(0.02, Math.min(
      (view.width - margin) / box.width, (view.height - margin / 2) / box.height, 2));
    view.scale = scale;
    view.x = view.width / 2 - scale * (box.x + box.width / 2);
    view.y = view.height / 2 - scale * (box.y + box.height / 2);
  }

  const isMarked = () => marked.genes.size + marked.edges.size > 0;
  const size = () => Math.max(0.45, Math.min(1.4, Math.sqrt(view.scale)));  // of lines
  const reach = (node) => Math.max(2, node.radius * view.scale);  // pixels

  function drawLine(part) {
    const isFound = marked.edges.has(part.edge), width = part.width * size();
    const crowd = Math.min(1, Math.sqrt(many / drawn.length));
    pen.globalAlpha = isFound ? 1 : (isMarked() ? 0.08 : part.opacity) * crowd;
    pen.strokeStyle = pen.fillStyle = colours[part.colour];
    pen.lineWidth = (isFound && marked.edges.size === 1 ? width + 2 : width) / view.scale;
    pen.setLineDash(part.isFalse ? [5 / view.scale, 4 / view.scale] : []);
    pen.beginPath();
    pen.moveTo(part.ax, part.ay);
    pen.quadraticCurveTo(part.bx, part.by, part.cx, part.cy);
    pen.stroke();
    pen.setLineDash([]);
    const tip = tvcs.scene.head(part, part.sign, (2.2 + part.width) * size() / view.scale);
    pen.beginPath();
    tip.points.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
    if (tip.isFilled) pen.fill();
    else pen.stroke();
  }

  function drawDot(node) {
    const isFound = marked.genes.has(node.gene);
    pen.globalAlpha = !isMarked() || isFound || marked.near.has(node.gene) ? 1 : 0.15;
    pen.beginPath();
    pen.arc(node.x, node.y, reach(node) / view.scale, 0, 2 * Math.PI);
    pen.fillStyle = colours[node.targets ? "--ink" : "--paper"];
    pen.fill();
    pen.lineWidth = (isFound ? 4 : 1.3 * size()) / view.scale;
    pen.strokeStyle = colours[isFound ? "--mark" : "--ink"];
    pen.stroke();
  }

  /* Names where there is room, those of marked genes and of hubs first. */
  function drawNames() {
    const height = 14, taken = [];
    const most = nodes.size <= 110 || isMarked() ? 400 : view.width * view.height / 7000;
    const rank = (node) => (marked.genes.has(node.gene) ? 1e6 : 0) +
      (marked.near.has(node.gene) ? 1e3 : 0) + node.links;
    const free = (box) => taken.every((other) => box.x0 > other.x1 || box.x1 < other.x0 ||
      box.y0 > other.y1 || box.y1 < other.y0);
    pen.textAlign = "center";
    pen.lineJoin = "round";
    pen.lineWidth = 3;
    for (const node of [...nodes.values()].sort((a, b) => rank(b) - rank(a) || a.gene - b.gene)) {
      if (taken.length >= most) break;
      if (isMarked() && !marked.genes.has(node.gene) && !marked.near.has(node.gene)) continue;
      const middle = view.x + view.scale * node.x;
      const y = view.y + view.scale * node.y + reach(node) + height - 2;
      if (middle < 0 || middle > view.width || y < 0 || y > view.height + height) continue;
      const text = tvcs.name(node.gene).slice(0, 24);
      pen.font = (node.links > 9 ? "600 13px" : "12px") + " system-ui, sans-serif";
      const half = pen.measureText(text).width / 2 + 2;
      const x = Math.max(half, Math.min(view.width - half, middle));  // no name is cut
      const box = { x0: x - half, x1: x + half, y0: y - height + 2, y1: y + 2 };
      if (!free(box)) continue;
      taken.push(box);
      pen.strokeStyle = colours["--wash"];
      pen.fillStyle = colours["--ink"];
      pen.strokeText(text, x, y);
      pen.fillText(text, x, y);
    }
  }

  function draw() {
    frame = 0;
    if (simulation && !simulation.isDone()) {
      advance(slice);
      if (!view.isMine) fit();
      again();
      if (still.matches && !simulation.isDone()) return;
    }
    lines = tvcs.scene.lines(nodes, drawn);
    const { sharp, scale } = view;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(sharp * scale, 0, 0, sharp * scale, sharp * view.x, sharp * view.y);
    lines.forEach(drawLine);
    nodes.forEach(drawDot);
    pen.globalAlpha = 1;
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    drawNames();
    document.documentElement.dataset.layout =
      !simulation || simulation.isDone() ? "settled" : "moving";
  }

  const again = () => { frame = frame || requestAnimationFrame(draw); };

  /* Layout for some milliseconds, and one step at least. */
  function advance(milliseconds) {
    const end = performance.now() + milliseconds;
    do simulation.step(); while (!simulation.isDone() && performance.now() < end);
  }

  /* Lay out the top edges that passed. */
  function show() {
    const most = Number($("most").value) || Infinity;
    drawn = tvcs.shown.slice(0, most);
    nodes = tvcs.layout.nodesOf(drawn);
    simulation = drawn.length ? tvcs.layout.simulate(nodes, drawn) : null;
    view.isMine = false;
    fit();
    $("drawn").textContent = drawn.length < tvcs.shown.length
      ? "The top " + drawn.length + " of them are drawn." : "";
    document.documentElement.dataset.layout = "moving";
    again();
  }

  function mark(genes, found) {
    const near = new Set(), all = new Set(found);
    drawn.forEach((k) => {
      const [from, to] = [tvcs.edges.from[k], tvcs.edges.to[k]];
      if (genes.includes(from) || genes.includes(to)) {
        if (!found.length) all.add(k);
        if (all.has(k)) near.add(from).add(to);
      }
    });
    marked = { genes: new Set(genes), edges: all, near: near };
    again();
  }

  function zoom(factor, x, y) {
    const scale = Math.max(0.02, Math.min(8, view.scale * factor)), by = scale / view.scale;
    view.x = x - by * (x - view.x);
    view.y = y - by * (y - view.y);
    view.scale = scale;
    view.isMine = true;
    again();
  }

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /* The gene or else the edge at a place in pixels. */
  function hit(px, py) {
    const x = (px - view.x) / view.scale, y = (py - view.y) / view.scale;
    let best = null, least = Infinity;
    nodes.forEach((node) => {
      const away = Math.hypot(node.x - x, node.y - y) * view.scale - reach(node);
      if (away < 4 && away < least) [best, least] = [{ gene: node.gene, node: node }, away];
    });
    if (best) return best;
    lines.forEach((part) => {
      const dx = part.cx - part.ax, dy = part.cy - part.ay;
      const along = ((x - part.ax) * dx + (y - part.ay) * dy) / (dx * dx + dy * dy || 1);
      const t = Math.max(0, Math.min(1, along));
      const mid = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c;
      const away = Math.hypot(mid(part.ax, part.bx, part.cx) - x, mid(part.ay, part.by, part.cy) - y);
      if (away * view.scale < Math.min(6, least)) [best, least] = [{ edge: part.edge }, away * view.scale];
    });
    return best;
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = place(event);
    held = { x: x, y: y, at: hit(x, y), moved: 0, start: [view.x, view.y] };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!held) {
      const found = hit(x, y);
      canvas.style.cursor = found ? "pointer" : "grab";
      canvas.title = !found ? "" : "edge" in found ? tvcs.describe(found.edge) : tvcs.name(found.gene);
      return;
    }
    held.moved = Math.max(held.moved, Math.hypot(x - held.x, y - held.y));
    if (held.moved < 4) return;
    view.isMine = true;
    if (held.at && held.at.node && simulation.isDone()) {
      simulation.move(held.at.node, (x - view.x) / view.scale, (y - view.y) / view.scale);
    } else [view.x, view.y] = [held.start[0] + x - held.x, held.start[1] + y - held.y];
    again();
  });
  canvas.addEventListener("pointerup", () => {
    if (held && held.moved < 4) {
      if (!held.at) tvcs.emit("nothing");
      else tvcs.go("edge" in held.at ? tvcs.hash.edge(held.at.edge) : tvcs.hash.gene(held.at.gene));
    }
    held = null;
  });
  canvas.addEventListener("pointercancel", () => { held = null; });
  // The wheel scrolls the page until the network has the focus.
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), ...place(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 60, pan = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (pan[event.key]) {
      view.x += pan[event.key][0];
      view.y += pan[event.key][1];
      view.isMine = true;
      again();
    } else if ("+-=".includes(event.key)) zoom(event.key === "-" ? 0.8 : 1.25, view.width / 2, view.height / 2);
    else if (event.key === "0") refit();
    else return;
    event.preventDefault();
  });

  function refit() {
    view.isMine = false;
    fit();
    again();
  }

  $("fit").addEventListener("click", refit);
  $("closer").addEventListener("click", () => zoom(1.4, view.width / 2, view.height / 2));
  $("farther").addEventListener("click", () => zoom(1 / 1.4, view.width / 2, view.height / 2));
  $("most").addEventListener("input", show);
  new ResizeObserver(() => { resize(); if (!view.isMine) fit(); draw(); }).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); again(); });
  readColours();
  resize();
  tvcs.on("filtered", show);
  tvcs.graph = {
    mark: mark, canvas: canvas,
    drawn: () => drawn,
    nodes: () => nodes,
    svg: (title) => tvcs.scene.svg(nodes, drawn, title),
    place: (gene) => {
      const node = nodes.get(gene);
      return [view.x + view.scale * node.x, view.y + view.scale * node.y];
    },
  };
})(window.tvcs);
