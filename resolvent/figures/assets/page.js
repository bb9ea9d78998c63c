// Charts and filters of the pages. Tables are sorted by sortable.js. Pages are opened from disk: nothing is fetched.
(() => {
  const assets = document.currentScript.src.replace(/[^/]*$/, "");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  // ---- charts: figure.chart holds .plot and the chart as JSON; an image stays for print and without script ----
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
      if (/^scene\d*$/.test(key)) {
        drawn[key] = { ...layout[key] };
        for (const name of ["xaxis", "yaxis", "zaxis"]) {
          drawn[key][name] = { ...drawn[key][name], gridcolor: colour("line"), color: colour("ink"), backgroundcolor: "rgba(0,0,0,0)" };
        }
      }
    }
    return drawn;
  }

  function draw(figure) {
    const { data, layout = {}, frames } = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const plot = figure.querySelector(".plot");
    figure.classList.add("drawn");
    const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
    Plotly.newPlot(plot, data, themed(layout), options).then(() => frames && Plotly.addFrames(plot, frames));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Plotly.react(plot, data, themed(layout), options));
  }

  const charts = [...document.querySelectorAll("figure.chart")].filter((figure) => figure.querySelector(".plot"));
  if (charts.length) {
    const library = document.createElement("script");
    library.src = `${assets}plotly.min.js`;
    library.onload = () => {
      const seen = new IntersectionObserver((entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting) { seen.unobserve(target); draw(target); }
        }
      }, { rootMargin: "400px" });
      charts.forEach((figure) => seen.observe(figure));
    };
    document.head.append(library);
  }

  // ---- filters: form.filters names a table; a row's data-<name> holds its values, apart by "|" ----
  for (const form of document.querySelectorAll("form.filters")) {
    const table = document.getElementById(form.dataset.table);
    const shown = form.querySelector("output");
    const update = () => {
      const wanted = [...new FormData(form)].filter(([, value]) => value !== "");
      let count = 0, all = 0;
      for (const row of table.querySelectorAll("tbody tr")) {
        const fits = wanted.every(([name, value]) => name === "words"
          ? row.textContent.toLowerCase().includes(value.toLowerCase())
          : (row.dataset[name] ?? "").split("|").includes(value));
        row.hidden = !fits;
        all += 1;
        count += fits;
      }
      if (shown) shown.textContent = count === all ? `${all} rows` : `${count} of ${all} rows`;
    };
    form.addEventListener("input", update);
    form.addEventListener("reset", () => setTimeout(update));
    form.addEventListener("submit", (event) => event.preventDefault());
    update();
  }
})();
