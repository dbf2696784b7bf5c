// Weights from the kernel, and how a matrix of them is drawn.

const asBytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
const asFloats = (view) => new Float32Array(asBytes(view).buffer);

const exactly = (value) => String(Number(Math.fround(value).toPrecision(9))); // enough digits to tell any two 32-bit numbers apart

// Give a canvas its size in CSS pixels, sharp on any screen, and return its cleared context.
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.imageSmoothingEnabled = false;
  context.textBaseline = "middle";
  return context;
}

// Draw when there is room to draw in, whenever that changes, and when the page changes its colours: a canvas keeps the old ones.
// Return what ends this, once the view is gone; the page would keep it otherwise.
function keepDrawn(el, draw) {
  const sizes = new ResizeObserver(draw);
  sizes.observe(el); // the first time once it is on the page and has a font and a colour
  const themes = new MutationObserver(() => requestAnimationFrame(draw));
  themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-name"] });
  return () => {
    sizes.disconnect();
    themes.disconnect();
  };
}

// Return a canvas with one pixel a weight; bright: the colour of the weight's root, which tells small ones apart.
function picture(weights, rows, columns, bright) {
  const small = document.createElement("canvas");
  small.width = columns;
  small.height = rows;
  const image = new ImageData(columns, rows);
  for (let i = 0; i < weights.length; i++) {
    const weight = clamp(weights[i], 0, 1);
    const shade = Math.round((bright ? Math.sqrt(weight) : weight) * 255) * 3;
    image.data[4 * i] = PALETTE[shade];
    image.data[4 * i + 1] = PALETTE[shade + 1];
    image.data[4 * i + 2] = PALETTE[shade + 2];
    image.data[4 * i + 3] = 255;
  }
  small.getContext("2d").putImageData(image, 0, 0);
  return small;
}

// Return the side of a cell, in pixels, of a matrix of so many: to be read in a short sentence, bounded in a long one.
const cellSize = (count, room, largest) => clamp(Math.floor(room / count), clamp(Math.floor(1400 / count), 2, 11), largest);

function largestOf(weights) {
  let largest = 0;
  for (const weight of weights) if (weight > largest) largest = weight;
  return largest;
}

const clipped = (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text);

// Draw a matrix with its tokens: queries down the left, keys along the top. Return where its cells are.
function drawMatrix(canvas, { weights, queries, keys, size, row, column, cursor, bright }) {
  const style = getComputedStyle(canvas);
  const font = `${Math.min(14, Math.max(9, size - 3))}px ${style.fontFamily}`;
  const context = sized(canvas, 10, 10);
  context.font = font;
  const widest = (labels) => Math.max(...labels.map((label) => context.measureText(clipped(shown(label))).width));
  const left = Math.ceil(widest(queries)) + 12;
  const top = Math.ceil(widest(keys) * 0.8) + 18;
  const overhang = widest(keys) * 0.6;
  sized(canvas, left + keys.length * size + overhang, top + queries.length * size + 2);
  context.font = font;
  context.drawImage(picture(weights, queries.length, keys.length, bright), left, top, keys.length * size, queries.length * size);
  if (size >= 27) {
    context.textAlign = "center";
    context.font = `${Math.min(12, size * 0.36)}px ${style.fontFamily}`;
    weights.forEach((weight, i) => {
      if (weight < 0.005) return;
      context.fillStyle = (bright ? Math.sqrt(weight) : weight) > 0.55 ? "#000000" : "#ffffff";
      context.fillText(fixed(weight, 2), left + ((i % keys.length) + 0.5) * size, top + (Math.floor(i / keys.length) + 0.5) * size);
    });
    context.font = font;
  }
  const mark = (x, y, width, height, color) => {
    for (const [line, ink] of [[4, "#000000"], [2, color]]) {
      context.strokeStyle = ink;
      context.lineWidth = line;
      context.strokeRect(x + 1, y + 1, width - 2, height - 2);
    }
  };
  if (row !== undefined) mark(left, top + row * size, keys.length * size, size, "#e69f00");
  if (column !== undefined) mark(left + column * size, top, size, queries.length * size, "#e69f00");
  if (cursor) mark(left + cursor[1] * size, top + cursor[0] * size, size, size, "#ffffff");
  context.fillStyle = style.color;
  context.textAlign = "right";
  const step = Math.ceil(10 / size); // labels of small cells would lie on each other
  queries.forEach((label, q) => {
    if (q % step === 0) context.fillText(clipped(shown(label)), left - 6, top + (q + 0.5) * size);
  });
  context.textAlign = "left";
  keys.forEach((label, k) => {
    if (k % step) return;
    context.save();
    context.translate(left + (k + 0.5) * size, top - 6);
    context.rotate(-Math.PI / 3.4);
    context.fillText(clipped(shown(label)), 0, 0);
    context.restore();
  });
  return {
    size,
    reveal([q, k]) {
      const box = canvas.parentElement;
      const [x, y] = [left + k * size, top + q * size];
      box.scrollLeft = clamp(box.scrollLeft, x + size - box.clientWidth, x);
      box.scrollTop = clamp(box.scrollTop, y + size - box.clientHeight, y);
    },
    cellAt(event) {
      const box = canvas.getBoundingClientRect();
      const k = Math.floor((event.clientX - box.left - left) / size);
      const q = Math.floor((event.clientY - box.top - top) / size);
      return q >= 0 && q < queries.length && k >= 0 && k < keys.length ? [q, k] : null;
    },
  };
}

// Draw what the colours mean.
function addScale(el, bright, highest = "1") {
  const scale = make("div", "rp-scale");
  add(scale, "span", "", "0");
  const bar = sized(add(scale, "canvas"), 120, 10);
  const ramp = Float32Array.from({ length: 256 }, (_, i) => i / 255);
  bar.drawImage(picture(ramp, 1, 256, bright), 0, 0, 120, 10);
  add(scale, "span", "", `${highest}  attention weight`);
  const old = el.querySelector(".rp-scale");
  if (old) old.replaceWith(scale);
  else el.appendChild(scale);
  return scale;
}
