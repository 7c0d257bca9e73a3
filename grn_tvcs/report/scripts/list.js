/* List of the edges that passed, sortable by any column; only visible rows exist. */
(function (tvcs) {
  "use strict";
  const $ = tvcs.element, list = $("list"), body = $("rows"), edges = tvcs.edges;
  const height = 32, spare = 3;  // pixels of a row; rows beyond sight
  const collator = new Intl.Collator(undefined, { numeric: true });
  const byName = tvcs.genes.map((_, gene) => gene)
    .sort((a, b) => collator.compare(tvcs.name(a), tvcs.name(b)));
  const order = new Int32Array(tvcs.genes.length);
  byName.forEach((gene, k) => { order[gene] = k; });
  const part = (value) => value === null ? "–" : value.toFixed(2);
  const words = (column) => (k) => edges[column][k];

  // key, heading, displayed value, sort key, and whether the largest comes first.
  const every = [
    ["rank", "rank", words("rank"), words("rank"), false],
    ["from", "regulator", (k) => tvcs.name(edges.from[k]), (k) => order[edges.from[k]], false],
    ["sign", "sign", words("sign"), words("sign"), false],
    ["to", "target", (k) => tvcs.name(edges.to[k]), (k) => order[edges.to[k]], false],
    ["score", "score", (k) => String(Number(edges.score[k].toPrecision(4))), words("score"), true],
    ["confidence", "confidence", (k) => part(edges.confidence[k]), words("confidence"), true],
    ["stability", "stability", (k) => part(edges.stability[k]), words("stability"), true],
    ["false_discovery", "false disc.", (k) => part(edges.false_discovery[k]),
      words("false_discovery"), false],
    ["undirected", "direction", (k) => tvcs.isUndirected(k) ? "unknown" : "known", words("undirected"),
      false],
    ["evidence", "evidence", words("evidence"), words("evidence"), false],
    ["truth", "reference", (k) => tvcs.truth[edges.truth[k]], (k) => "tf-".indexOf(edges.truth[k]),
      false],
  ].filter(([key]) => tvcs.has(key));
  const wide = { rank: 3.6, from: 5.5, sign: 2.6, to: 5.5, evidence: 7 };  // rem at least
  const room = (key) => wide[key] || 5.2;
  const numbers = ["rank", "score", "confidence", "stability", "false_discovery"];
  // On a narrow screen these columns give way one by one; the page of an edge has all facts.
  const yielding = ["false_discovery", "evidence", "stability", "rank", "score", "truth"];
  let columns = every, width = -1;
  let sorted = { key: "rank", isFalling: false }, found = [], active = 0;

  function compare(key, isFalling) {
    const of = every.find(([name]) => name === key)[3], turn = isFalling ? -1 : 1;
    return (a, b) => {
      const x = of(a), y = of(b);
      if (x === y) return a - b;
      if (x === null || y === null) return x === null ? 1 : -1;
      return x < y ? -turn : turn;
    };
  }

  function sort(key, isFalling) {
    sorted = { key: key, isFalling: isFalling };
    point();
    show();
  }

  /* Mark the heading by which the list is sorted. */
  function point() {
    columns.forEach(([name]) => {
      const cell = $("head-" + name);
      if (name === sorted.key) {
        cell.setAttribute("aria-sort", sorted.isFalling ? "descending" : "ascending");
      } else cell.removeAttribute("aria-sort");
    });
  }

  const least = (some) => some.reduce((sum, [key]) => sum + room(key) + 0.6, 0.6);  // rem

  /* The columns that there is room for. */
  function fitting() {
    const rem = parseFloat(getComputedStyle(list).fontSize) / 0.87;
    let some = every;
    for (const key of yielding) {
      if (least(some) * rem <= list.clientWidth) break;
      some = some.filter(([name]) => name !== key);
    }
    return some;
  }

  function head() {
    columns = fitting();
    $("head").replaceChildren();
    columns.forEach(([key, heading, , , isFalling]) => {
      const cell = tvcs.make("div", "", { role: "columnheader", id: "head-" + key, class: key });
      const button = tvcs.make("button", heading, { type: "button" });
      button.addEventListener("click", () =>
        sort(key, sorted.key === key ? !sorted.isFalling : isFalling));
      cell.append(button);
      $("head").append(cell);
    });
    const grows = (key) => ["from", "to", "evidence"].includes(key) ? "1fr" : room(key) + "rem";
    list.style.setProperty("--columns",
      columns.map(([key]) => `minmax(${room(key)}rem, ${grows(key)})`).join(" "));
    list.style.setProperty("--least", least(columns) + "rem");
    point();
  }

  function row(k, place) {
    const line = tvcs.make("div", "", {
      role: "row", id: "row-" + k, class: place === active ? "active row" : "row",
      "aria-rowindex": place + 2, "aria-selected": place === active,
    });
    line.style.top = place * height + "px";
    columns.forEach(([key, , shown]) => {
      const cell = tvcs.make("div", "", {
        role: "gridcell", class: key + (numbers.includes(key) ? " number" : ""),
      });
      if (key === "from" || key === "to") {
        const link = tvcs.link(edges[key][k]);
        link.tabIndex = -1;
        cell.append(link);
      } else cell.textContent = shown(k);
      if (key === "sign") cell.title = tvcs.relation(k);
      line.append(cell);
    });
    line.addEventListener("click", (event) => {
      active = place;
      if (event.target.tagName !== "A") tvcs.go(tvcs.hash.edge(k));
      render();
    });
    return line;
  }

  function render() {
    const start = Math.max(0, Math.floor(list.scrollTop / height) - spare);
    const end = Math.min(found.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + spare);
    body.replaceChildren(...found.slice(start, end).map((k, i) => row(k, start + i)));
    if (active >= start && active < end) {
      list.setAttribute("aria-activedescendant", "row-" + found[active]);
    } else list.removeAttribute("aria-activedescendant");
  }

  function show() {
    found = [...tvcs.shown].sort(compare(sorted.key, sorted.isFalling));
    active = 0;
    list.scrollTop = 0;
    list.setAttribute("aria-rowcount", found.length + 1);
    body.style.height = found.length * height + "px";
    $("empty").hidden = found.length > 0;
    render();
  }

  function move(to) {
    active = Math.max(0, Math.min(found.length - 1, to));
    const top = active * height, room = list.clientHeight - 2 * height;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top > list.scrollTop + room) list.scrollTop = top - room;
    render();
  }

  list.addEventListener("scroll", render);
  list.addEventListener("keydown", (event) => {
    if (event.target !== list || !found.length) return;
    const page = Math.max(1, Math.floor(list.clientHeight / height) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
      Home: -found.length, End: found.length };
    if (event.key in steps) move(active + steps[event.key]);
    else if (event.key === "Enter") tvcs.go(tvcs.hash.edge(found[active]));
    else return;
    event.preventDefault();
  });
  head();
  tvcs.on("filtered", show);
  new ResizeObserver(() => {
    if (list.clientWidth !== width) {
      width = list.clientWidth;
      head();
    }
    render();
  }).observe(list);
  tvcs.list = { found: () => found, sort: sort, columns: every };
})(window.tvcs);
