// Two runs on the same test samples: the errors of each sample, the paired ratio, and predictions side by side.
(() => {
  const { show, colour, whenSeen } = resolventPage;
  const { load, scientific, prediction, curves, maps, range, bounds, numbered, SEQUENTIAL, DIVERGING } = resolventSamples;
  const MOST = 5; // samples in each list

  function ratioOf(data, one, other, ratios) {
    const pair = (data.pairs ?? []).find(([a, b]) => (a === one && b === other) || (a === other && b === one));
    if (pair && pair[2] !== null) {
      const [, , value, low, high] = pair;
      return pair[0] === one ? { value, low, high } : { value: 1 / value, low: high && 1 / high, high: low && 1 / low };
    }
    const logarithms = ratios.map(Math.log);
    return { value: Math.exp(logarithms.reduce((sum, next) => sum + next, 0) / logarithms.length) };
  }

  function scatter(samples, one, other) {
    const ends = range(samples.map(({ first, second }) => [first, second]).flat());
    const [low, high] = [ends[0] / 1.3, ends[1] * 1.3];
    return {
      data: [
        { type: "scatter", mode: "lines", x: [low, high], y: [low, high], line: { color: colour("muted"), dash: "dot", width: 1 }, hoverinfo: "skip", showlegend: false },
        {
          type: "scatter", mode: "markers", x: samples.map(({ first }) => first), y: samples.map(({ second }) => second), showlegend: false,
          marker: { color: colour("accent"), size: 7, opacity: 0.75 },
          text: samples.map(({ sample, first, second }) => `test sample ${sample}<br>first ${scientific(first)}<br>second ${scientific(second)}`), hovertemplate: "%{text}<extra></extra>",
        },
      ],
      layout: {
        height: 440, margin: { l: 10, r: 10, t: 10, b: 50 },
        xaxis: { type: "log", title: { text: `error of the first<br>${one}` }, exponentformat: "power" },
        yaxis: { type: "log", title: { text: `error of the second<br>${other}` }, exponentformat: "power" },
      },
    };
  }

  function sideBySide(one, first, other, second, width) {
    const target = one.quantities[1];
    if (one.dimension === 2) {
      const fields = [];
      first.target.forEach((z, place) => {
        const [low, high] = range(z), bound = bounds(first.error[place], second.error[place]), count = first.target.length;
        fields.push({ title: numbered(target, place, count), z, x: one.x_target, y: one.y_target, low, high, scale: SEQUENTIAL });
        fields.push({ title: numbered("first: prediction", place, count), z: prediction(first)[place], x: one.x_target, y: one.y_target, low, high, scale: SEQUENTIAL });
        fields.push({ title: numbered("second: prediction", place, count), z: prediction(second)[place], x: other.x_target, y: other.y_target, low, high, scale: SEQUENTIAL });
        fields.push({ title: numbered("first: error", place, count), z: first.error[place], x: one.x_target, y: one.y_target, low: -bound, high: bound, scale: DIVERGING });
        fields.push({ title: numbered("second: error", place, count), z: second.error[place], x: other.x_target, y: other.y_target, low: -bound, high: bound, scale: DIVERGING });
      });
      return maps(fields, width);
    }
    const rows = first.target.map((y, place) => ({
      title: numbered(target, place, first.target.length),
      lines: [
        { name: target, x: one.x_target, y, color: colour("ink"), width: 2.2 },
        { name: "first", x: one.x_target, y: prediction(first)[place], color: colour("accent"), dash: "dash" },
        { name: "second", x: other.x_target, y: prediction(second)[place], color: colour("warning"), dash: "dot" },
      ],
    }));
    rows.push({
      title: "error",
      lines: [
        ...first.error.map((y, place) => ({ name: "first", x: one.x_target, y, color: colour("accent"), dash: place ? "dot" : "solid", width: 1.2 })),
        ...second.error.map((y, place) => ({ name: "second", x: other.x_target, y, color: colour("warning"), dash: place ? "dot" : "solid", width: 1.2 })),
      ],
    });
    return curves(rows, one.axis);
  }

  function list(body, samples) {
    body.replaceChildren(...samples.map(({ sample, first, second, ratio }) => {
      const row = document.createElement("tr");
      for (const text of [sample, scientific(first), scientific(second), scientific(ratio)]) {
        const cell = document.createElement(row.cells.length ? "td" : "th");
        if (row.cells.length) cell.className = "number"; else cell.scope = "row";
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    }));
  }

  whenSeen([...document.querySelectorAll("[data-compares]")], async (place) => {
    const data = await load(place.dataset.compares);
    // The seed comes first: a narrow window cuts the end.
    const onOneGrid = data.runs.every((run) => run.where === data.runs[0].where);
    const named = (run) => `seed ${run.seed}: ${run.label}${onOneGrid ? "" : `, ${run.where}`}`;
    const find = (name) => place.querySelector(`[name=${name}], .${name}`);
    const [one, other, sample] = ["first", "second", "sample"].map(find);
    for (const select of [one, other]) {
      select.replaceChildren(...data.runs.map((run, number) => new Option(named(run) + (run.diverged === null ? "" : " (diverged)"), number)));
    }
    const finished = data.runs.flatMap((run, number) => (run.diverged === null ? [number] : []));
    const asked = decodeURIComponent(location.hash.slice(1)).split("|").map((folder) => data.runs.findIndex((run) => run.folder === folder));
    one.value = asked[0] >= 0 ? asked[0] : finished[0] ?? 0;
    other.value = asked[1] >= 0 ? asked[1] : finished.find((number) => String(number) !== one.value) ?? 0;

    async function predictions() {
      const runs = [data.runs[one.value], data.runs[other.value]];
      const [first, second] = await Promise.all(runs.map((run) => load(`${run.folder}/run.js`)));
      const common = first.samples.flatMap((mine) => {
        const theirs = second.samples.find((their) => their.sample === mine.sample);
        return theirs && mine.which === "common" ? [[mine, theirs]] : [];
      });
      const chosen = Math.max(0, sample.selectedIndex);
      sample.replaceChildren(...common.map(([mine, theirs], number) =>
        new Option(`test sample ${mine.sample}: errors ${scientific(mine.relative_l2)} and ${scientific(theirs.relative_l2)}`, number)));
      const plot = find("predictions");
      plot.closest("figure").classList.toggle("drawn", common.length > 0);
      if (!common.length) return;
      sample.selectedIndex = Math.min(chosen, common.length - 1);
      const [mine, theirs] = common[sample.selectedIndex];
      show(plot, () => sideBySide(first, mine, second, theirs, plot.clientWidth));
    }

    function update() {
      const [a, b] = [data.runs[one.value], data.runs[other.value]];
      const samples = Object.keys(a.errors).filter((number) => number in b.errors)
        .map((number) => ({ sample: number, first: a.errors[number], second: b.errors[number], ratio: a.errors[number] / b.errors[number] }));
      const words = find("verdict"), known = samples.length > 0 && samples.every(({ ratio }) => ratio > 0 && Number.isFinite(ratio));
      place.classList.toggle("empty", !known);
      if (!known) {
        const lost = [a, b].filter((run) => run.diverged !== null).map((run) => `${named(run)} diverged in epoch ${run.diverged}`);
        words.textContent = lost.length ? `${lost.join("; ")}: there is nothing to compare.` : samples.length ? "An error is zero: there is no ratio." : "These runs were not tested on the same samples.";
        return;
      }
      const { value, low, high } = ratioOf(data, Number(one.value), Number(other.value), samples.map(({ ratio }) => ratio));
      const [wins, losses] = [samples.filter(({ ratio }) => ratio < 1).length, samples.filter(({ ratio }) => ratio > 1).length];
      const equal = samples.length - wins - losses;
      words.textContent = `On ${samples.length} test samples the errors of the first are ${scientific(value)} times those of the second (geometric mean; `
        + (low ? `95 % interval over the samples ${scientific(low)} to ${scientific(high)}; it does not include the variation between seeds). `
          : `${one.value === other.value ? "both are the same run" : samples.length > 1 ? "no interval is computed for this many runs" : "one sample has no interval"}). `)
        + `The first run is better on ${wins}, the second on ${losses}${equal ? `; errors are equal on ${equal}` : ""}.`
        + (a.where === b.where ? "" : " The grids of the two runs differ; the functions are the same.");
      const plot = find("errors");
      plot.closest("figure").classList.add("drawn");
      show(plot, () => scatter(samples, named(a), named(b)));
      samples.sort((left, right) => left.ratio - right.ratio);
      list(find("first-wins"), samples.slice(0, MOST).filter(({ ratio }) => ratio < 1));
      list(find("second-wins"), samples.slice(-MOST).reverse().filter(({ ratio }) => ratio > 1));
      predictions();
    }
    for (const select of [one, other]) select.addEventListener("input", update);
    sample.addEventListener("input", predictions);
    place.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
    update();
  });
})();
