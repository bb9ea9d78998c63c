"use strict";
// Evaluate predictions for a task, as `resolvent evaluate` does. ANSWERS is written by task_page.py.

// ---- Labels -------------------------------------------------------------------------------------------

async function inflate(bytes, format) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Labels of a grid: answers.py has the format.
const unpackedLabels = {};
async function labelsOf(group) {
  const entry = ANSWERS.labels[group];
  if (entry.part_of) {
    const finer = await labelsOf(entry.part_of), points = ANSWERS.labels[entry.part_of].shape.at(-1);
    return finer.filter((_, place) => (place % points) % entry.stride === 0);
  }
  if (!(group in unpackedLabels)) {
    const bytes = await inflate(Uint8Array.from(atob(entry.packed), (letter) => letter.charCodeAt(0)), "deflate");
    const count = bytes.length / 4, points = entry.shape.at(-1), values = new Int32Array(count);
    for (let k = 0; k < count; k++)
      values[k] = bytes[k] | (bytes[count + k] << 8) | (bytes[2 * count + k] << 16) | (bytes[3 * count + k] << 24);
    for (let order = 0; order < entry.order; order++)
      for (let k = 0; k < count; k++) if (k % points) values[k] = (values[k] + values[k - 1]) | 0;
    unpackedLabels[group] = Float64Array.from(values, (value) => value * entry.step);
  }
  return unpackedLabels[group];
}

const channels = ANSWERS.targets.length;
const shapeOf = (group) => ANSWERS.labels[group].axes.map((axis) => axis.points.length); // (…, y, x)
const expectedShape = (group) => [ANSWERS.samples, ...(channels > 1 ? [channels] : []), ...shapeOf(group)];
const product = (numbers) => numbers.reduce((all, number) => all * number, 1);
const inWords = (shape) => `(${shape.join(", ")})`;

// Quadrature weights of a sample's points: products of those of the axes, the last of which is x.
function weightsOf(group) {
  let weights = [1];
  for (const axis of ANSWERS.labels[group].axes)
    weights = weights.flatMap((outer) => axis.weights.map((weight) => outer * weight));
  return weights;
}

// ---- Files --------------------------------------------------------------------------------------------

// Return {shape, values} of a NumPy file. Throws an Error that names what is not accepted.
function parseNpy(buffer, name) {
  const view = new DataView(buffer), bytes = new Uint8Array(buffer);
  if (String.fromCharCode(...bytes.slice(1, 6)) !== "NUMPY") throw new Error(`${name} is no NumPy file`);
  const [start, size] = bytes[6] === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)];
  const header = new TextDecoder().decode(bytes.slice(start, start + size));
  const kind = /'descr':\s*'([<>|=])([a-z])(\d+)'/.exec(header), sizes = /'shape':\s*\(([^)]*)\)/.exec(header);
  const getters = { f4: "getFloat32", f8: "getFloat64", i1: "getInt8", i2: "getInt16", i4: "getInt32", u1: "getUint8" };
  const getter = kind && getters[kind[2] + kind[3]];
  if (!getter || !sizes) throw new Error(`${name} has numbers of a type that is not accepted; save it as float64`);
  const shape = sizes[1].split(",").filter((text) => text.trim()).map(Number);
  const width = Number(kind[3]), count = product(shape), little = kind[1] !== ">";
  if (buffer.byteLength < start + size + count * width) throw new Error(`${name} is truncated`);
  const stored = Float64Array.from({ length: count }, (_, k) => view[getter](start + size + k * width, little));
  return { shape, values: /'fortran_order':\s*True/.test(header) ? fromFortran(stored, shape) : stored };
}

function fromFortran(stored, shape) {
  const values = new Float64Array(stored.length);
  for (let place = 0; place < stored.length; place++) {
    let rest = place, inC = 0;
    for (const [axis, length] of shape.entries()) {
      inC += (rest % length) * product(shape.slice(axis + 1));
      rest = Math.floor(rest / length);
    }
    values[inC] = stored[place];
  }
  return values;
}

// Return the arrays of a .npz file by name, from the directory at its end.
async function parseNpz(buffer, name) {
  const view = new DataView(buffer), found = {};
  let end = buffer.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error(`${name} is no .npz file, or it is truncated`);
  let entry = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const [size, nameLength, extra, comment] = [view.getUint32(entry + 20, true),
      ...[28, 30, 32].map((place) => view.getUint16(entry + place, true))];
    const member = new TextDecoder().decode(new Uint8Array(buffer, entry + 46, nameLength));
    const local = view.getUint32(entry + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const bytes = new Uint8Array(buffer, start, size);
    const content = view.getUint16(entry + 10, true) ? await inflate(bytes, "deflate-raw") : bytes.slice();
    if (member.endsWith(".npy")) found[member.slice(0, -4)] = parseNpy(content.buffer, `${name}/${member}`);
    entry += 46 + nameLength + extra + comment;
  }
  return found;
}

// Return {shape, values} of text: a line for each sample, after at most one line of names.
function parseText(text, name) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const rows = lines.map((line) => line.trim().split(/[\s,;]+/).map(Number));
  if (rows.length && rows[0].some(Number.isNaN)) rows.shift();
  const length = rows.length ? rows[0].length : 0;
  const odd = rows.findIndex((row) => row.length !== length || row.some(Number.isNaN));
  if (odd >= 0) throw new Error(`${name}: line ${odd + 1} has no ${length} numbers`);
  return { shape: [rows.length, length], values: Float64Array.from(rows.flat()) };
}

// Return predictions by grid. An array belongs to the grid that it or, if it is alone there, its file is named
// after, else to the grid with its number of points.
async function predictionsIn(files) {
  const found = {};
  for (const file of files) {
    const buffer = await file.arrayBuffer(), stem = file.name.replace(/\.[^.]*$/, "");
    let arrays;
    if (file.name.endsWith(".npz")) arrays = await parseNpz(buffer, file.name);
    else if (file.name.endsWith(".npy")) arrays = { [stem]: parseNpy(buffer, file.name) };
    else arrays = { [stem]: parseText(new TextDecoder().decode(buffer), file.name) };
    for (const [name, array] of Object.entries(arrays)) {
      const fits = (group) => product(array.shape) === product(expectedShape(group));
      const alone = Object.keys(arrays).length === 1, names = alone ? [name, stem] : [name];
      const named = ANSWERS.tested.find((group) => names.some((text) => text === group || text.endsWith(`_${group}`)));
      const group = named || ANSWERS.tested.find(fits);
      if (!group && !alone) continue; // coordinates, for instance
      if (!group || !fits(group))
        throw new Error(`${file.name} has the shape ${inWords(array.shape)}; expected: ` +
          ANSWERS.tested.map((each) => `${inWords(expectedShape(each))} on ${each}`).join(" or "));
      if (group in found) throw new Error(`there are two arrays for ${group}: remove one`);
      const broken = array.values.findIndex((value) => !Number.isFinite(value));
      if (broken >= 0) throw new Error(`${file.name}: sample ${Math.floor(broken / (array.values.length / ANSWERS.samples))} is not finite`);
      found[group] = array.values;
    }
  }
  if (!Object.keys(found).length) throw new Error("there is no array of predictions in these files");
  return found;
}

// ---- Errors -------------------------------------------------------------------------------------------

// Weights of three neighbours of each point, from the index `first` on, in a second-order difference.
function differencesOn(points) {
  return points.map((x, j) => {
    const first = Math.min(Math.max(j - 1, 0), points.length - 3), [a, b, c] = points.slice(first, first + 3);
    return [first, (2 * x - b - c) / ((a - b) * (a - c)), (2 * x - a - c) / ((b - a) * (b - c)),
      (2 * x - a - b) / ((c - a) * (c - b))];
  });
}

// Derivative of a function along an axis whose points are `stride` apart, as `derivative` of the grid's axis: of
// the trigonometric polynomial on a periodic axis, else by second-order differences, one-sided at the ends.
function derivative(values, { points, period }, stride) {
  const size = points.length, found = new Float64Array(values.length), around = new Float64Array(2 * size);
  const factors = Array.from({ length: size / 2 }, (_, m) => (Math.PI / period) * (m % 2 ? -1 : 1) / Math.tan((Math.PI * m) / size));
  const differences = differencesOn(points);
  for (let line = 0; line < values.length / size; line++) {
    const start = Math.floor(line / stride) * stride * size + (line % stride);
    for (let j = 0; j < 2 * size; j++) around[j] = values[start + (j % size) * stride];
    for (let j = 0; j < size; j++) {
      let slope = 0;
      if (period) for (let m = 1; m < size / 2; m++) slope += factors[m] * (around[j + size - m] - around[j + m]);
      else for (let m = 0; m < 3; m++) slope += differences[j][m + 1] * around[differences[j][0] + m];
      found[start + j * stride] = slope;
    }
  }
  return found;
}

// Errors of each sample by metric: ‖p - u‖/‖u‖ in L² and in H¹, with squares summed over channels.
function relativeErrors(predictions, labels, group) {
  const weights = weightsOf(group), points = weights.length, errors = { relative_l2: [], relative_h1: [] };
  const square = (values) => values.reduce((sum, value, k) => sum + weights[k] * value * value, 0);
  const slopes = (values) => ANSWERS.labels[group].axes.reduce(
    (sum, axis, at) => sum + square(derivative(values, axis, product(shapeOf(group).slice(at + 1)))), 0);
  for (let sample = 0; sample < labels.length; sample += channels * points) {
    const above = [0, 0], below = [0, 0];
    for (let from = sample; from < sample + channels * points; from += points) {
      const label = labels.subarray(from, from + points);
      for (const [sums, values] of [[below, label], [above, label.map((value, k) => predictions[from + k] - value)]]) {
        sums[0] += square(values);
        sums[1] += slopes(values);
      }
    }
    errors.relative_l2.push(Math.sqrt(above[0] / below[0]));
    errors.relative_h1.push(Math.sqrt((above[0] + above[1]) / (below[0] + below[1])));
  }
  return errors;
}

// Return remarks: predictions on a square that are far better with x and y exchanged, as `_exchanged` in judge.py.
function exchanged(predictions, labels, group, own) {
  const [rows, columns] = shapeOf(group);
  if (rows !== columns) return [];
  const swapped = predictions.map((_, place) => {
    const k = place % (rows * rows);
    return predictions[place - k + (k % rows) * rows + Math.floor(k / rows)];
  });
  const other = meanOf(relativeErrors(swapped, labels, group).relative_l2);
  return other < own / 2 ? [`the predictions on ${group} are closer to the labels with x and y exchanged ` +
    `(${scientific(other)} instead of ${scientific(own)}): the task's order of axes is y, x`] : [];
}

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Mean with its 95 % interval, as `mean_interval` of resolvent.figures.common.intervals for one seed.
function summary(errors) {
  const { student, lean, rounding, within } = ANSWERS.interval, count = errors.length, mean = meanOf(errors);
  const sorted = [...errors].sort((a, b) => a - b), half = count >> 1;
  const rest = { median: count % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2, largest: sorted.at(-1) };
  if (count === 1) return { mean, low: null, high: null, ...rest };
  if (!mean) return { mean, low: 0, high: 0, ...rest };
  const relative = errors.map((error) => error / mean);
  const variance = meanOf(relative.map((value) => (value - 1) ** 2));
  let [below, above] = [0, 0];
  if (variance > rounding ** 2) {
    const error = Math.sqrt(variance / (count - 1));
    const skew = (lean * meanOf(relative.map((value) => (value - 1) ** 3))) / variance ** 1.5 / Math.sqrt(count);
    below = (student + Math.max(0, -skew)) * error;
    above = (student + Math.max(0, skew)) * error;
  }
  above = Math.log1p(above);
  if (count >= within) {
    below = Math.min(below, Math.max(0, -Math.log(sorted[0] / mean)));
    above = Math.min(above, Math.max(0, Math.log(sorted.at(-1) / mean)));
  }
  return { mean, low: mean * Math.exp(-below), high: mean * Math.exp(above), ...rest };
}

// ---- The page -----------------------------------------------------------------------------------------

// Ends of an interval with the exponent of its middle, "(1.56 to 2.91) × 10⁻²", as `ends` on other pages.
function interval({ low, high, mean }) {
  if (low === null) return "—";
  const exponent = Number(mean.toExponential(2).split("e")[1]), plain = exponent >= -1 && exponent < 3;
  if (low < 10 ** (exponent - 1) || high >= 10 ** (exponent + 2)) return `(${scientific(low)} to ${scientific(high)})`;
  const [from, to] = [low, high].map((end) => (plain ? end.toFixed(Math.max(0, 2 - exponent)) : (end / 10 ** exponent).toFixed(2)));
  return `(${from} to ${to})${plain ? "" : scientific(mean).slice(4)}`;
}

function duration(seconds) {
  if (!seconds) return "—";
  const [factor, unit] = seconds < 1e-3 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
  return `${Number((seconds * factor).toPrecision(3))} ${unit}`;
}

function showRows(rows) {
  const of = (row, key) => rows.find(({ who, grid, metric }) => who === row.who && grid === row.grid && metric === key);
  $("rows").replaceChildren(...rows.filter(({ metric }) => metric === ANSWERS.metric).map((row) => {
    const line = document.createElement("tr"), h1 = of(row, "relative_h1");
    const timed = ANSWERS.classical.find(({ grid, solver }) => grid === row.grid && solver === row.who);
    const texts = [row.who, row.grid, scientific(row.mean), interval(row), scientific(row.largest),
      scientific(h1.mean), duration(timed?.seconds_per_sample)];
    texts.forEach((text, column) => {
      const cell = document.createElement(column ? "td" : "th");
      if (!column) cell.scope = "row";
      if (column > 1) cell.className = "number";
      cell.textContent = text;
      line.append(cell);
    });
    return line;
  }));
}

const WORST = 3;
function showWorst(group, predictions, labels, errors) {
  const size = labels.length / ANSWERS.samples;
  const order = errors.map((error, sample) => [error, sample]).sort((a, b) => b[0] - a[0]).slice(0, WORST);
  const worst = order.map(([error, sample]) => {
    const [label, prediction] = [labels, predictions].map((values) => values.slice(sample * size, (sample + 1) * size));
    return { sample, error, label, prediction };
  });
  drawSamples($("pictures"), { grid: group, targets: ANSWERS.targets, space: shapeOf(group),
    points: ANSWERS.labels[group].axes[0].points, samples: worst });
}

async function digest(file) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

let record = null;
async function evaluate(files) {
  const predictions = await predictionsIn(files), label = $("label").value.trim() || "My model", rows = [], remarks = [];
  const measured = ANSWERS.tested.filter((group) => group in predictions);
  for (const group of measured) {
    const labels = await labelsOf(group), errors = relativeErrors(predictions[group], labels, group);
    for (const metric of ANSWERS.metrics)
      rows.push({ who: label, grid: group, metric, samples: ANSWERS.samples, ...summary(errors[metric]) });
    remarks.push(...exchanged(predictions[group], labels, group, meanOf(errors.relative_l2)));
    if (group === measured[0]) showWorst(group, predictions[group], labels, errors[ANSWERS.metric]);
  }
  const own = rows.filter(({ metric }) => metric === ANSWERS.metric), first = own[0];
  rows.push(...ANSWERS.others.filter(({ grid }) => measured.includes(grid)));
  rows.sort((a, b) => measured.indexOf(a.grid) - measured.indexOf(b.grid));
  const mean = (timed) => rows.find(({ who, grid, metric }) => who === timed.solver && grid === timed.grid && metric === ANSWERS.metric).mean;
  const classical = ANSWERS.classical.filter(({ grid }) => measured.includes(grid));
  const accurate = classical.filter((timed) => timed.grid === first.grid && mean(timed) <= first.mean);
  accurate.sort((a, b) => a.seconds_per_sample - b.seconds_per_sample);
  showRows(rows);
  $("remarks").textContent = remarks.map((remark) => `Remark: ${remark}.`).join(" ");
  $("remarks").hidden = !remarks.length;
  $("sentence").textContent = `${label}: mean error ${scientific(first.mean)} ${interval(first)} on ${first.grid}. ` +
    (accurate.length ? `A ${accurate[0].solver} is at least as accurate, and takes ${duration(accurate[0].seconds_per_sample)}.`
      : "No classical solver that was run is as accurate.");
  const power = (value) => value.toExponential(2).replace(/e([+-])0*(\d+)/, (_, sign, size) => ` \\times 10^{${sign === "-" ? "-" : ""}${size}}`);
  $("latex").textContent = own.map((row) => `${label.replace(/([&%$#_{}])/g, "\\$1")} & ${row.grid} & $${power(row.mean)}$ & ` +
    (row.low === null ? "" : `$${power(row.low)}$ to $${power(row.high)}$`) + " \\\\").join("\n");
  const identified = {};
  for (const file of files) if (globalThis.crypto?.subtle) identified[file.name] = await digest(file);
  record = {
    task: ANSWERS.task, source: files.map((file) => file.name).join(", "), files: identified, label,
    kind: "predictions", evaluated: ANSWERS.evaluated, test_set: ANSWERS.test_set,
    stated_accuracy: ANSWERS.stated_accuracy,
    rows, recorded: [], remarks, not_evaluated_on: ANSWERS.tested.filter((group) => !measured.includes(group)),
    classical, as_accurate: accurate[0] ?? null,
    timed_on: ANSWERS.timed_on, without_labels: [], seconds_per_sample: {},
    date: new Date().toISOString().slice(0, 10), machine: "the task's page in a browser",
    versions: { resolvent: ANSWERS.version },
  };
}

async function take(list) {
  const files = [...list];
  if (!files.length) return;
  $("message").hidden = true;
  $("working").hidden = false;
  await new Promise((painted) => setTimeout(painted, 30)); // the computation leaves no time to paint
  try {
    await evaluate(files);
    $("result").hidden = false;
  } catch (error) {
    $("result").hidden = true;
    $("message").textContent = error instanceof Error ? error.message : String(error);
    $("message").hidden = false;
  }
  $("working").hidden = true;
}

$("files").addEventListener("change", (event) => take(event.target.files));
$("label").addEventListener("change", () => take($("files").files));
for (const kind of ["dragover", "dragleave", "drop"])
  $("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") take(event.dataTransfer.files);
  });
$("record").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(record, null, 2)], { type: "application/json" }));
  link.download = "evaluation.json";
  link.click();
  URL.revokeObjectURL(link.href);
});
$("shapes").textContent = "Shape: " + ANSWERS.tested.map((group) => `${inWords(expectedShape(group))} on ${group}`).join(", or ") + ".";
$("timed").textContent = ANSWERS.timed_on;
$("test-set").textContent = ANSWERS.test_set;
