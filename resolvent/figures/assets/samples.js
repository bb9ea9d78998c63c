// Charts of test samples (input, target, prediction, error), from the run.js next to the page of each run. A figure with
// data-shows="samples" draws one sample; with data-shows="spread" it draws the error by point over all samples.
(() => {
  const { show, colour, scientific } = resolventPage;

  // ---- data: script files that call resolventData, because a page opened from disk cannot fetch ----
  const files = {};
  window.resolventData = (name, data) => { document.currentScript.data = data; };
  function load(address) {
    return (files[address] ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => (script.data ? done(script.data) : failed(new Error(`${address} has no data`)));
      script.onerror = () => failed(new Error(`${address} is missing: run snakemake without a target, which also writes the pages of the runs`));
      document.head.append(script);
    }));
  }

  const deep = (values, other, how) => Array.isArray(values)
    ? values.map((one, place) => deep(one, other[place], how))
    : values === null || other === null ? null : how(values, other);
  const prediction = (sample) => deep(sample.target, sample.error, (target, error) => target + error);
  const range = (...fields) => {
    const values = fields.flat(4).filter((one) => one !== null);
    return [Math.min(...values), Math.max(...values)];
  };

  // ---- charts: panels below each other for curves, side by side for fields ----
  // rows: {title, lines: [{name, x, y, color, dash, width}]}
  function curves(rows, axis) {
    const data = [], layout = {
      height: 30 + 180 * rows.length, hovermode: "x unified", margin: { l: 10, r: 10, b: 45 }, annotations: [],
      legend: { orientation: "h", yref: "container", y: 1, yanchor: "top" },
    };
    const named = new Set();
    rows.forEach(({ title, lines }, row) => {
      const number = row ? row + 1 : "";
      const top = 1 - row / rows.length, bottom = 1 - (row + 1) / rows.length + 0.2 / rows.length;
      layout[`yaxis${number}`] = { domain: [bottom, top], exponentformat: "power" };
      layout.annotations.push({ text: `<b>${title}</b>`, x: 0, y: top, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false });
      for (const { name, color, dash, width = 1.6, ...line } of lines) {
        data.push({ ...line, type: "scatter", mode: "lines", name, legendgroup: name, showlegend: !named.has(name), yaxis: `y${number}`, xaxis: "x", line: { color, dash, width }, hovertemplate: "%{y:.4g}" });
        named.add(name);
      }
    });
    layout.margin.t = 40 + 25 * Math.ceil((named.size * 240) / innerWidth); // for the lines of the legend
    layout.height += layout.margin.t;
    layout.xaxis = { title: { text: axis }, anchor: `y${rows.length > 1 ? rows.length : ""}` };
    return { data, layout };
  }

  // fields: {title, z, x, low, high, scale}
  function maps(fields, width) {
    const columns = width < 560 ? 1 : Math.min(3, fields.length === 4 ? 2 : fields.length), rows = Math.ceil(fields.length / columns);
    const side = Math.min(width / columns - 90, 380);
    const data = [], layout = { height: rows * (side + 60) + 20, margin: { l: 5, r: 5, t: 30, b: 10 }, annotations: [] };
    const reach = (along) => Math.abs(along[along.length - 1] - along[0]);
    fields.forEach(({ title, z, x, y, low, high, scale }, place) => {
      const number = place ? place + 1 : "", column = place % columns, row = Math.floor(place / columns);
      const left = column / columns, top = 1 - row / rows, share = side / width;
      const bottom = top - side / layout.height;
      layout[`xaxis${number}`] = { domain: [left, left + share], anchor: `y${number}`, visible: false, constrain: "domain" };
      layout[`yaxis${number}`] = { domain: [Math.max(0, bottom), top], anchor: `x${number}`, visible: false, constrain: "domain" };
      // Keep the aspect ratio of the domain up to 6.
      if (Math.abs(Math.log(reach(y) / reach(x))) < Math.log(6)) layout[`yaxis${number}`].scaleanchor = `x${number}`;
      layout.annotations.push({ text: `<b>${title}</b>`, x: left, y: top, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false });
      data.push({
        type: "heatmap", z, x, y, zmin: low, zmax: high, colorscale: scale, xaxis: `x${number}`, yaxis: `y${number}`,
        colorbar: { x: left + share + 0.005, y: (Math.max(0, bottom) + top) / 2, len: side / layout.height, thickness: 10, outlinewidth: 0, exponentformat: "power", tickfont: { size: 11 } },
        hovertemplate: `${title}<br>x %{x}, y %{y}<br>%{z:.4g}<extra></extra>`,
      });
    });
    return { data, layout };
  }

  const SEQUENTIAL = "Viridis", DIVERGING = "RdBu", MAGNITUDE = "Cividis";
  const bounds = (...errors) => Math.max(...range(...errors).map(Math.abs)) || 1;
  const numbered = (name, place, count) => (count > 1 ? `${name} ${place + 1}` : name);

  function chartOf(run, sample, width) {
    const [input, target] = run.quantities, predicted = prediction(sample);
    if (run.dimension === 2) {
      const fields = sample.input.map((z, place) => ({ title: numbered(input, place, sample.input.length), z, x: run.x, y: run.y, scale: SEQUENTIAL }));
      sample.target.forEach((z, place) => {
        const [low, high] = range(z, predicted[place]), bound = bounds(sample.error[place]), count = sample.target.length;
        fields.push({ title: numbered(target, place, count), z, x: run.x_target, y: run.y_target, low, high, scale: SEQUENTIAL });
        fields.push({ title: numbered("prediction", place, count), z: predicted[place], x: run.x_target, y: run.y_target, low, high, scale: SEQUENTIAL });
        fields.push({ title: numbered("error", place, count), z: sample.error[place], x: run.x_target, y: run.y_target, low: -bound, high: bound, scale: DIVERGING });
      });
      return maps(fields, width);
    }
    const given = sample.input.filter((one) => one.length > 1 && range(one)[0] !== range(one)[1] || sample.input.length === 1)
      .map((y, place, kept) => ({ name: numbered(input, place, kept.length), x: run.x, y, color: colour("muted"), width: 1.1 }));
    const rows = run.axis === "time" ? [{ title: input, lines: given }] : [];
    sample.target.forEach((y, place) => rows.push({
      title: numbered(target, place, sample.target.length),
      lines: [
        ...(run.axis === "time" ? [] : given),
        { name: target, x: run.x_target, y, color: colour("ink"), width: 2.2 },
        { name: "prediction", x: run.x_target, y: predicted[place], color: colour("accent"), dash: "dash" },
      ],
    }));
    rows.push({ title: "error", lines: sample.error.map((y, place, all) => ({ name: numbered("error", place, all.length), x: run.x_target, y, color: colour("warning"), dash: place ? "dot" : "solid", width: 1.2 })) });
    return curves(rows, run.axis);
  }

  function spreadOf(run, width) {
    if (run.dimension === 2) return maps([{ title: "RMS error / RMS target", z: run.spread, x: run.x_target, y: run.y_target, scale: MAGNITUDE }], width);
    return curves([{ title: "RMS error / RMS target", lines: [{ name: run.label, x: run.x_target, y: run.spread, color: colour("accent") }] }], run.axis);
  }

  const WORDS = { best: "best", median: "median", worst: "worst", common: "stored for every model" };

  function start(figure) {
    const form = figure.querySelector("form"), words = figure.querySelector(".words"), plot = figure.querySelector(".plot");
    const runs = form.elements.run, samples = form.elements.sample;
    const address = () => (runs ? runs.value : form.dataset.run);
    async function update(event) {
      let run;
      try { run = await load(address()); } catch (error) { words.textContent = error.message; return; }
      if (!run.samples.length) { words.textContent = `${run.label}, ${run.where}, seed ${run.seed} diverged: it has no predictions.`; return; }
      if (samples && (!samples.options.length || event?.target === runs)) {
        const chosen = samples.selectedIndex;
        samples.replaceChildren(...run.samples.map((one, place) =>
          new Option(`${WORDS[one.which]}: test sample ${one.sample}, error ${scientific(one.relative_l2)}`, place)));
        samples.selectedIndex = chosen >= 0 ? chosen : Math.min(1, run.samples.length - 1);
      }
      const asked = run.samples.findIndex((one) => one.which === figure.dataset.sample);
      if (samples && asked >= 0) samples.selectedIndex = asked;
      delete figure.dataset.sample;
      const width = () => plot.clientWidth || figure.clientWidth;
      figure.classList.add("drawn");
      const sample = samples && run.samples[samples.value];
      if (sample) words.textContent = `${run.label}, ${run.where}, seed ${run.seed}, test sample ${sample.sample} (${WORDS[sample.which]}): relative L² error ${scientific(sample.relative_l2)}.`;
      else words.textContent = `${run.label}, ${run.where}, seed ${run.seed}: all test samples.`;
      show(plot, () => (sample ? chartOf(run, sample, width()) : spreadOf(run, width())));
    }
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    update();
  }

  window.resolventSamples = { load, scientific, prediction, curves, maps, range, bounds, numbered, SEQUENTIAL, DIVERGING };
  // A link with data-sample="worst" selects that sample in its figure, even before the figure is drawn.
  document.addEventListener("click", ({ target }) => {
    const link = target.closest("a[data-sample]"), figure = link && document.querySelector(link.getAttribute("href"));
    if (!figure) return;
    figure.dataset.sample = link.dataset.sample;
    figure.querySelector("form").dispatchEvent(new Event("input"));
  });
  resolventPage.whenSeen([...document.querySelectorAll("figure[data-shows]")], start);
})();
