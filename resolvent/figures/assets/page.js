// Charts, filters and wide tables of the pages. Tables are sorted by sortable.js. Pages are opened from disk: nothing is fetched.
(() => {
  const assets = document.currentScript.src.replace(/[^/]*$/, "");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  // ---- format numbers as in the tables ----
  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  function scientific(value, digits = 3) {
    if (value === null || !Number.isFinite(value)) return "—";
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e").map((one, place) => (place ? Number(one) : one));
    if (exponent >= -1 && exponent < 3) return value.toFixed(Math.max(0, digits - 1 - exponent));
    return `${mantissa} × 10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((one) => RAISED[one]).join("")}`;
  }

  // ---- charts: figure.chart holds .plot and the chart as JSON; the image is for print and without script ----
  const PALETTE = ["#0b6fb8", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8a6fd1", "#7f7f7f"];

  function themed(layout) {
    const axis = { gridcolor: colour("line"), linecolor: colour("muted"), zerolinecolor: colour("line"), automargin: true };
    const drawn = {
      colorway: PALETTE, margin: { l: 60, r: 20, t: 20, b: 50 }, autosize: true, ...layout,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { ...layout.font, family: getComputedStyle(document.body).fontFamily, color: colour("ink") },
      hoverlabel: { ...layout.hoverlabel, bgcolor: colour("panel"), bordercolor: colour("line"), font: { color: colour("ink") } },
    };
    for (const key of new Set([...Object.keys(layout), "xaxis", "yaxis"])) {
      if (/^[xy]axis\d*$/.test(key)) drawn[key] = { ...layout[key], ...axis };
    }
    return drawn;
  }

  // A chart is {data, layout, dark}, or a function that returns it; `dark` maps light colours to those of a dark page.
  const night = matchMedia("(prefers-color-scheme: dark)");
  const shown = new Map();

  // Return the values to label on a logarithmic axis with fewer than two powers of ten, between 10^low and 10^high.
  function labelledBetween(low, high) {
    for (const digits of [[1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      const powers = [...new Set([Math.floor(low), Math.floor(high)])];
      const values = powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)));
      const within = values.filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
      if (within.length > 1) return within;
    }
    const [from, to] = [10 ** low, 10 ** high];
    const step = Number(((to - from) / 3).toExponential(0));
    const first = Math.ceil(from / step);
    return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, place) => (first + place) * step);
  }

  // Label powers of ten alone on logarithmic axes, or values between them where fewer than two are in sight.
  function labelPowers(plot) {
    const changes = {};
    for (const [key, axis] of Object.entries(plot.layout)) {
      if (!/^[xy]axis\d*$/.test(key) || axis.type !== "log" || !axis.range) continue;
      const [low, high] = [Math.min(...axis.range), Math.max(...axis.range)];
      const powers = Math.floor(high) - Math.ceil(low) + 1;
      const ticks = { tickmode: "linear", tick0: 0, dtick: Math.ceil(powers / 6) };
      if (powers < 2) {
        ticks.tickmode = "array";
        ticks.tickvals = labelledBetween(low, high);
        const digits = high - low < 0.3 ? 3 : 1;
        ticks.ticktext = ticks.tickvals.map((value) => scientific(value, digits));
      }
      for (const [name, value] of Object.entries(ticks)) {
        if (String(axis[name]) !== String(value)) changes[`${key}.${name}`] = value;
      }
    }
    return Object.keys(changes).length ? Plotly.relayout(plot, changes) : plot;
  }

  function show(plot, chart) {
    const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
    const redraw = () => {
      const { data, layout = {}, dark = {} } = typeof chart === "function" ? chart() : chart;
      let text = JSON.stringify([data, layout]);
      if (night.matches) for (const [light, other] of Object.entries(dark)) text = text.replaceAll(light, other);
      const parts = JSON.parse(text);
      // Fields side by side are as high as they are wide.
      if (layout.meta?.columns) parts[1].height = Math.min(layout.height, layout.meta.above + plot.clientWidth / layout.meta.columns);
      for (const trace of parts[0]) {
        if (!trace.hovertemplate?.includes("%{y:.3e}")) continue;
        trace.text = trace.y.map((one) => scientific(one, 4));
        trace.hovertemplate = trace.hovertemplate.replace("%{y:.3e}", "%{text}");
      }
      return Plotly.react(plot, parts[0], themed(parts[1]), options).then(labelPowers);
    };
    const isNew = !shown.has(plot);
    shown.set(plot, redraw);
    return redraw().then(() => isNew && plot.on("plotly_relayout", () => labelPowers(plot)));
  }
  night.addEventListener("change", () => shown.forEach((redraw) => redraw()));

  function draw(figure) {
    figure.classList.add("drawn");
    show(figure.querySelector(".plot"), JSON.parse(figure.querySelector("script[type='application/json']").textContent));
  }

  // Loads plotly once there is something to draw, and starts each figure when it comes near the window.
  let library;
  function whenSeen(figures, start) {
    if (!figures.length) return;
    library ??= new Promise((done) => {
      const script = document.createElement("script");
      script.src = `${assets}plotly.min.js`;
      script.onload = done;
      document.head.append(script);
    });
    library.then(() => {
      const seen = new IntersectionObserver((entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting) { seen.unobserve(target); start(target); }
        }
      }, { rootMargin: "400px" });
      figures.forEach((figure) => seen.observe(figure));
    });
  }
  whenSeen([...document.querySelectorAll("figure.chart")].filter((figure) => figure.querySelector(".plot + script")), draw);
  window.resolventPage = { show, whenSeen, colour, scientific };

  // ---- make elements that scroll sideways focusable by keyboard, labelled by the heading before them ----
  const scrolled = [...document.querySelectorAll(".wide, pre, .menu > ul")];
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")];
  const reach = () => {
    for (const element of scrolled) {
      if (element.scrollWidth <= element.clientWidth) {
        ["tabindex", "role", "aria-label"].forEach((name) => element.removeAttribute(name));
        continue;
      }
      element.tabIndex = 0;
      if (element.tagName === "UL") continue;
      const before = headings.filter((one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
      element.setAttribute("role", "group");
      element.setAttribute("aria-label", `${before.at(-1)?.textContent.trim() ?? "Table"}, scrolls sideways`);
    }
  };
  new ResizeObserver(reach).observe(document.documentElement);

  // ---- filters: form.filters names a table, and hides rows without the words ----
  for (const form of document.querySelectorAll("form.filters[data-table]")) {
    const rows = [...document.querySelectorAll(`#${form.dataset.table} tbody tr`)];
    const update = () => {
      const words = form.elements.words.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
      const count = rows.filter((row) => !row.hidden).length;
      form.querySelector("output").textContent = count === rows.length ? `${count} rows` : `${count} of ${rows.length} rows`;
    };
    form.addEventListener("input", update);
    form.addEventListener("reset", () => setTimeout(update));
    form.addEventListener("submit", (event) => event.preventDefault());
    update();
  }
})();
