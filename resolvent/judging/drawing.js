"use strict";
// Pictures of predictions beside labels, for the page of a task and for that of an evaluation.

const $ = (id) => document.getElementById(id);

const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
function scientific(value) {
  if (value === null || value === undefined) return "—";
  const [mantissa, exponent] = value.toExponential(2).split("e");
  if (exponent >= -1 && exponent < 3) return value.toFixed(Math.max(0, 2 - exponent));
  const raised = [...exponent.replace("+", "")].map((sign) => (sign === "-" ? "⁻" : digits[sign])).join("");
  return `${mantissa} × 10${raised}`;
}

// Draw samples {sample, error, label, prediction} of functions `targets` on a grid with axes of `space` (…, y, x).
function drawSamples(place, { grid, targets, space, points, samples }) {
  const size = space.reduce((all, length) => all * length, 1);
  const figures = samples.flatMap(({ sample, error, label, prediction }) => targets.map((target, channel) => {
    const [truth, answer] = [label, prediction].map((values) => values.slice(channel * size, (channel + 1) * size));
    const named = targets.length > 1 ? `, ${target.replaceAll("_", " ")}` : "";
    const words = `Sample ${sample} on ${grid}${named}: error ${scientific(error)}. `;
    if (space.length > 1)
      return figure((canvas) => drawFields(canvas, [truth, answer], space),
        words + "Label, prediction, and their difference on a scale of its own.");
    return figure((canvas) => drawLines(canvas, points, truth, answer), words + "Grey: label; colour: prediction.");
  }));
  place.replaceChildren(...figures);
}

function figure(draw, words) {
  const [made, canvas, caption] = ["figure", "canvas", "figcaption"].map((name) => document.createElement(name));
  draw(canvas);
  caption.textContent = words;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", words);
  made.append(canvas, caption);
  return made;
}

const extent = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Return the pen of a canvas of the page's width, and its frame in pixels.
function prepared(canvas) {
  const dot = devicePixelRatio, width = dot * $("content").clientWidth, height = Math.max(0.3 * width, dot * 160);
  [canvas.width, canvas.height] = [width, height];
  const pen = canvas.getContext("2d");
  pen.font = `${13 * dot}px system-ui, sans-serif`;
  pen.fillStyle = colour("--muted");
  return [pen, { left: 62 * dot, right: width - 12 * dot, top: 12 * dot, bottom: height - 26 * dot, dot }];
}

// Draw a curve: number 0 is the label, wide and grey; 1 the prediction or error.
function stroke(pen, xs, ys, number, dot) {
  pen.strokeStyle = colour(number ? "--accent" : "--muted");
  pen.lineWidth = (number ? 1.5 : 4) * dot;
  pen.beginPath();
  xs.forEach((x, place) => pen[place ? "lineTo" : "moveTo"](x, ys[place]));
  pen.stroke();
}

function drawLines(canvas, points, label, prediction) {
  const [pen, { left, right, top, bottom, dot }] = prepared(canvas);
  const [low, high] = extent([...label, ...prediction]), span = high - low || 1;
  const x = (value) => left + ((value - points[0]) / (points.at(-1) - points[0])) * (right - left);
  const y = (value) => bottom - ((value - low) / span) * (bottom - top);
  const number = (value) => Number(value.toPrecision(3)).toString().replace("-", "−");
  pen.textAlign = "right";
  for (const value of [low, high]) pen.fillText(number(value), left - 8 * dot, y(value) + 4 * dot);
  pen.textAlign = "center";
  for (const value of [points[0], points.at(-1)]) pen.fillText(number(value), Math.min(x(value), right - 12 * dot), bottom + 20 * dot);
  [label, prediction].forEach((values, curve) => stroke(pen, [...points].map(x), [...values].map(y), curve, dot));
}

const VIRIDIS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const DIVERGING = [[33, 102, 172], [247, 247, 247], [178, 24, 43]];
function mapped(share, stops) {
  const place = Math.min(1, Math.max(0, share)) * (stops.length - 1), from = Math.min(Math.floor(place), stops.length - 2);
  return stops[from].map((start, channel) => start + (place - from) * (stops[from + 1][channel] - start));
}

function drawFields(canvas, [label, prediction], [rows, columns]) {
  const difference = prediction.map((value, k) => value - label[k]), pen = canvas.getContext("2d"), gap = 6;
  [canvas.width, canvas.height] = [3 * columns + 2 * gap, rows];
  const shared = extent(label), largest = extent(difference.map(Math.abs))[1] || 1;
  const panels = [[label, shared, VIRIDIS], [prediction, shared, VIRIDIS], [difference, [-largest, largest], DIVERGING]];
  panels.forEach(([values, [low, high], stops], panel) => {
    const image = pen.createImageData(columns, rows);
    values.forEach((value, k) => {
      const place = 4 * ((rows - 1 - Math.floor(k / columns)) * columns + (k % columns)); // y upwards
      image.data.set([...mapped((value - low) / (high - low || 1), stops), 255], place);
    });
    pen.putImageData(image, panel * (columns + gap), 0);
  });
}

// Draw the mean power of labels and of errors by wavenumber, both axes logarithmic.
function drawSpectrum(canvas, { wavenumber, target, error }) {
  const [pen, frame] = prepared(canvas), { left, right, top, bottom, dot } = frame;
  const shown = wavenumber.map((k, place) => place).filter((place) => wavenumber[place] > 0 && target[place] > 0);
  const ks = shown.map((place) => Math.log10(wavenumber[place]));
  const curves = [target, error].map((values) => shown.map((place) => Math.log10(Math.max(values[place], 1e-300))));
  const largest = extent(curves.flat())[1], low = Math.max(extent(curves.flat())[0], largest - 20), [from, to] = extent(ks);
  const x = (k) => left + ((k - from) / (to - from || 1)) * (right - left);
  const y = (power) => bottom - ((Math.max(power, low) - low) / (largest - low || 1)) * (bottom - top);
  const power = (exponent) => "10" + [...String(exponent)].map((sign) => (sign === "-" ? "⁻" : digits[sign])).join("");
  const step = Math.max(1, Math.ceil((largest - low) / 5));
  pen.textAlign = "right";
  for (let decade = Math.ceil(low); decade <= largest; decade += step)
    pen.fillText(power(decade), left - 8 * dot, y(decade) + 4 * dot);
  pen.textAlign = "center";
  for (let decade = Math.ceil(from); decade <= to; decade++) pen.fillText(String(10 ** decade), x(decade), bottom + 20 * dot);
  curves.forEach((curve, number) => stroke(pen, ks.map(x), curve.map(y), number, dot));
}
