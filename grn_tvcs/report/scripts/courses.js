/* Time courses of one or two genes: axes, points, and predictions of held-out steps. */
(function (tvcs) {
  "use strict";
  const width = 300, height = 170, left = 46, below = 32, above = 22;

  function shape(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  /* Round numbers from `low` to `high`, about `n` of them. */
  function ticks(low, high, n) {
    const span = high - low || Math.abs(high) || 1, unit = 10 ** Math.floor(Math.log10(span / n));
    const step = unit * [1, 2, 5, 10].find((k) => span / (unit * k) <= n);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found.length ? found : [low];
  }

  function written(value) {
    const size = Math.abs(value);
    return size && (size >= 1e5 || size < 1e-3) ? value.toExponential(0) : String(value);
  }

  /* Draw one gene in a chart: axis, line with points, predictions. */
  function curve(svg, s, gene, kind, profile, x, right, isRight) {
    const span = profile.high - profile.low || 1;
    const y = (level) => above + (height - above - below) * (1 - (level - profile.low) / span);
    const at = isRight ? right : left;
    ticks(profile.low, profile.high, 4).forEach((level) => {
      svg.append(shape("line", { x1: at, x2: at + (isRight ? 4 : -4), y1: y(level), y2: y(level),
        class: "tick" }));
      svg.append(shape("text", { x: at + (isRight ? 6 : -6), y: y(level) + 4, class: kind,
        "text-anchor": isRight ? "start" : "end" }, written(level)));
    });
    const times = tvcs.data.series[s].times, levels = profile.levels[s];
    const spots = levels.map((level, i) => [x(times[i]), y(level)]);
    if (!tvcs.data.series[s].rest) {
      svg.append(shape("path", { class: kind,
        d: "M" + spots.map((spot) => spot.map((v) => v.toFixed(1)).join(" ")).join("L") }));
    }
    spots.forEach(([px, py], i) => {
      const dot = shape("circle", { cx: px.toFixed(1), cy: py.toFixed(1), class: kind,
        r: spots.length > 60 ? 1.4 : 2.4 });
      dot.append(shape("title", {}, tvcs.name(gene) + " at " + times[i] + ": " +
        Number(levels[i].toPrecision(4))));
      svg.append(dot);
    });
    if (profile.expected && profile.isPredicted) {
      profile.expected[s].forEach((level, i) => {
        if (level === null) return;
        const cross = shape("path", { class: "expected",
          d: `M${(x(times[i]) - 3).toFixed(1)} ${(y(level) - 3).toFixed(1)}l6 6m0-6l-6 6` });
        cross.append(shape("title", {}, "predicted for " + times[i] + ": " +
          Number(level.toPrecision(4))));
        svg.append(cross);
      });
    }
  }

  /* One series; `genes` holds one or two of [gene, kind, profile]. */
  function chart(s, genes) {
    const series = tvcs.data.series[s], times = series.times;
    const right = width - (genes.length > 1 ? left : 10);
    const first = Math.min(...times), last = Math.max(...times), span = last - first || 1;
    const x = (t) => left + 5 + (right - left - 10) * (t - first) / span;
    const names = genes.map(([gene]) => tvcs.name(gene)).join(" and ");
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": names + " in " + (series.rest ? "" : "series ") + series.name });
    (series.perturbed || []).forEach((on, i) => {
      if (!on) return;
      const end = i + 1 < times.length ? x(times[i + 1]) : right;
      svg.append(shape("rect", { x: x(times[i]), y: above, width: end - x(times[i]),
        height: height - above - below, class: "perturbed" }));
    });
    svg.append(shape("rect", { x: left, y: above, width: right - left,
      height: height - above - below, class: "frame" }));
    ticks(first, last, 5).forEach((t) => {
      svg.append(shape("line", { x1: x(t), x2: x(t), y1: height - below, y2: height - below + 4,
        class: "tick" }));
      svg.append(shape("text", { x: x(t), y: height - below + 15, "text-anchor": "middle" },
        written(t)));
    });
    svg.append(shape("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" },
      series.rest ? "sample" : tvcs.data.time));
    svg.append(shape("text", { x: left, y: 14, class: "title" },
      (series.rest ? "" : "series ") + series.name));
    genes.forEach(([gene, kind, profile], k) =>
      curve(svg, s, gene, kind, profile, x, right, k > 0));
    return svg;
  }

  /* Charts of all series with their legend, or a sentence if there are none. */
  function courses(genes) {
    const known = genes.map(([gene, kind, isPredicted]) => {
      const profile = tvcs.profile(gene);
      return profile && [gene, kind, Object.assign(profile, { isPredicted: isPredicted })];
    });
    if (known.includes(null)) {
      return [tvcs.make("p", "The time courses of " + (genes.length > 1 ? "these genes" : "this gene") +
        " are not in this file, to limit its size.", { class: "soft" })];
    }
    const key = tvcs.make("p", "", { class: "soft legend" });
    known.forEach(([gene, kind], k) => key.append(tvcs.make("span", "", { class: "key " + kind }),
      tvcs.name(gene) + (known.length > 1 ? k ? " (right axis)" : " (left axis)" : "") + ": " +
      tvcs.data.unit + ". "));
    if (known.some(([, , profile]) => profile.expected && profile.isPredicted)) {
      key.append(tvcs.make("span", "×", { class: "cross" }), " predicted from the sample before by " +
        "the selected regulators, with weights fitted to the other series (" +
        tvcs.data.n_folds + " folds). ");
    }
    if (tvcs.data.series.some((s) => s.perturbed && s.perturbed.includes(1))) {
      key.append("Shaded while perturbed. ");
    }
    if (tvcs.data.all_series > tvcs.data.series.length) {
      key.append("The first " + tvcs.data.series.length + " of " + tvcs.data.all_series + " series. ");
    }
    const grid = tvcs.make("div", "", { class: "courses" });
    tvcs.data.series.forEach((_, s) => grid.append(chart(s, known)));
    return [key, grid];
  }

  tvcs.courses = courses;
})(window.tvcs);
