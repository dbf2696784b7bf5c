// One head's matrix. A Gaussian is dragged by its centre and its width, blocked pairs are painted.

function render({ model, el }) {
  el.classList.add("rp");
  const body = add(el, "div", "rp-detail");
  const left = add(body, "div");
  const title = add(left, "div", "rp-title");
  const canvas = add(add(left, "div", "rp-scroll"), "canvas", "rp-canvas");
  const readout = add(left, "div", "rp-hint");
  readout.setAttribute("aria-live", "polite");
  const curve = add(body, "div", "rp-curve");
  addScale(left, false, "1 or more");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", "weights of the head; arrow keys move, space blocks a pair or frees it");

  add(curve, "div", "rp-hint", "Drag the upper dot to move the center, the other one to change the width; or use the arrow keys on them.");
  const SVG = "http://www.w3.org/2000/svg";
  const svg = curve.appendChild(document.createElementNS(SVG, "svg"));
  const [WIDTH, HEIGHT, REACH] = [360, 190, 8];
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "the Gaussian: its weight by the distance of key and query");
  const shape = (tag, attributes) => {
    const node = svg.appendChild(document.createElementNS(SVG, tag));
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const toX = (offset) => WIDTH / 2 + (offset * WIDTH) / (2 * REACH + 1);
  const toOffset = (event) => {
    const box = svg.getBoundingClientRect();
    return (((event.clientX - box.left) / box.width) * WIDTH - WIDTH / 2) / (WIDTH / (2 * REACH + 1));
  };
  const base = HEIGHT - 36;
  shape("line", { x1: 0, x2: WIDTH, y1: base, y2: base, class: "rp-axis" });
  for (let offset = -REACH; offset <= REACH; offset++) {
    const label = shape("text", { x: toX(offset), y: base + 16, class: "rp-tick" });
    label.textContent = offset % 2 ? "" : String(offset);
  }
  shape("text", { x: WIDTH / 2, y: HEIGHT - 4, class: "rp-tick" }).textContent = "key position minus query position, in tokens";
  const line = shape("path", { class: "rp-bell" });
  const taps = Array.from({ length: 2 * REACH + 1 }, () => shape("circle", { r: 3, class: "rp-tap" }));
  const peak = shape("text", { class: "rp-tick" });
  const handle = (name, label) => {
    const node = shape("circle", { r: 9, class: "rp-handle", tabindex: 0, role: "slider", "aria-label": label });
    node.dataset.handle = name;
    return node;
  };
  const handles = { center: handle("center", "center, in tokens"), std: handle("std", "width (standard deviation), in tokens") };

  let place = null;
  let cursor = null; // [query, key], moved by the arrow keys
  let pointed = null; // [query, key] that the line below the matrix is about
  let painting = null; // whether the drag under way blocks or frees

  const limits = (name) => model.get("limits")[name];
  function put(name, value) {
    const [low, high, step] = limits(name);
    model.set(name, clamp(Number((Math.round(value / step) * step).toFixed(6)), low, high));
    model.save_changes();
  }

  function paint([q, k], blocks) {
    const others = model.get("blocked").filter(([a, b]) => a !== q || b !== k);
    const pairs = blocks ? [...others, [q, k]] : others;
    model.set({ blocked: pairs, painted: { head: model.get("head"), pairs } }); // by then the kernel may be at another head
    model.save_changes();
  }
  const isBlocked = ([q, k]) => model.get("blocked").some(([a, b]) => a === q && b === k);

  function draw() {
    const [queries, keys] = [model.get("query_tokens"), model.get("key_tokens")];
    if (!queries.length) return;
    title.textContent = shown(model.get("title"));
    const weights = asFloats(model.get("weights"));
    const inside = (cell) => cell && [clamp(cell[0], 0, queries.length - 1), clamp(cell[1], 0, keys.length - 1)];
    [cursor, pointed] = [inside(cursor), inside(pointed)]; // another translation may have fewer tokens
    const size = cellSize(Math.max(queries.length, keys.length), 480, 40);
    place = drawMatrix(canvas, { weights, queries, keys, size, cursor, blocked: model.get("blocked") });
    canvas.classList.toggle("rp-paints", model.get("painting"));
    canvas.classList.toggle("rp-moves", !model.get("painting") && model.get("movable"));
    tell(pointed);
    el.dataset.drawn = weights.reduce((sum, weight, i) => sum + weight * (i + 1), 0);
  }

  function drawCurve() {
    curve.hidden = !model.get("movable");
    const [center, std] = [model.get("center"), model.get("std")];
    const bell = (offset) => Math.exp(-((offset - center) ** 2) / (2 * std ** 2)) / (std * Math.sqrt(2 * Math.PI));
    const whole = Array.from({ length: 101 }, (_, i) => bell(i - 50)).reduce((sum, weight) => sum + weight, 0); // far from any border
    const density = (offset) => bell(offset) / (model.get("sums_to_one") ? whole : 1);
    const highest = Math.max(0.5, density(center));
    const toY = (value) => base - (value / highest) * (base - 14);
    const points = Array.from({ length: 141 }, (_, i) => -REACH - 0.5 + (i * (2 * REACH + 1)) / 140);
    line.setAttribute("d", points.map((offset, i) => `${i ? "L" : "M"}${toX(offset)} ${toY(density(offset))}`).join(" "));
    taps.forEach((tap, i) => {
      tap.setAttribute("cx", toX(i - REACH));
      tap.setAttribute("cy", toY(density(i - REACH)));
    });
    const places = { center: [center, density(center)], std: [center + std, density(center + std)] };
    for (const [name, node] of Object.entries(handles)) {
      node.setAttribute("cx", toX(clamp(places[name][0], -REACH, REACH)));
      node.setAttribute("cy", toY(places[name][1]));
      node.setAttribute("aria-valuenow", model.get(name));
      node.setAttribute("aria-valuemin", limits(name)[0]);
      node.setAttribute("aria-valuemax", limits(name)[1]);
    }
    peak.setAttribute("x", toX(clamp(center, -REACH, REACH)));
    peak.setAttribute("y", toY(density(center)) - 14);
    peak.textContent = fixed(density(center), 2);
  }

  for (const [name, node] of Object.entries(handles)) {
    node.addEventListener("pointerdown", (event) => node.setPointerCapture(event.pointerId));
    node.addEventListener("pointermove", (event) => {
      if (!node.hasPointerCapture(event.pointerId)) return;
      put(name, name === "center" ? toOffset(event) : Math.abs(toOffset(event) - model.get("center")));
    });
    node.addEventListener("keydown", (event) => {
      const [low, high, step] = limits(name);
      const [less, more] = [model.get(name) - step, model.get(name) + step];
      const value = { ArrowLeft: less, ArrowDown: less, ArrowRight: more, ArrowUp: more, Home: low, End: high }[event.key];
      if (value === undefined) return;
      event.preventDefault();
      put(name, value);
    });
  }

  function tell(cell) {
    if (!cell) return;
    pointed = cell;
    const [queries, keys] = [model.get("query_tokens"), model.get("key_tokens")];
    const row = asFloats(model.get("weights")).subarray(cell[0] * keys.length, (cell[0] + 1) * keys.length);
    const sum = row.reduce((total, weight) => total + weight, 0);
    const text = `${queries[cell[0]]} → ${keys[cell[1]]}: ${exactly(row[cell[1]])}, row sum ${fixed(sum, 4)}`;
    readout.textContent = shown(isBlocked(cell) ? `${text}, blocked` : text);
  }

  let grabbed = null; // where a drag of the centre began: [pixel, centre]
  canvas.addEventListener("pointerdown", (event) => {
    const cell = place && place.cellAt(event);
    if (!cell) return;
    canvas.setPointerCapture(event.pointerId);
    if (model.get("painting")) {
      painting = !isBlocked(cell);
      paint(cell, painting);
    } else if (model.get("movable")) grabbed = [event.clientX, model.get("center")];
  });
  canvas.addEventListener("pointermove", (event) => {
    const cell = place && place.cellAt(event);
    tell(cell);
    if (painting !== null && cell && isBlocked(cell) !== painting) paint(cell, painting);
    if (grabbed) put("center", grabbed[1] + (event.clientX - grabbed[0]) / place.size);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, () => {
      painting = grabbed = null;
    });
  }
  canvas.addEventListener("keydown", (event) => {
    const [rows, columns] = [model.get("query_tokens").length, model.get("key_tokens").length];
    if (ARROWS[event.key]) {
      const [down, right] = cursor ? ARROWS[event.key] : [0, 0];
      const [q, k] = cursor || [0, 0];
      cursor = [clamp(q + down, 0, rows - 1), clamp(k + right, 0, columns - 1)];
      tell(cursor);
    } else if (event.key === " " && cursor) paint(cursor, !isBlocked(cursor));
    else return;
    event.preventDefault();
    draw();
    place.reveal(cursor);
  });

  const drawn = ["title", "query_tokens", "key_tokens", "weights", "blocked", "painting", "movable"]; // fixed weights are those of any words
  for (const name of drawn) model.on(`change:${name}`, draw);
  for (const name of ["center", "std", "sums_to_one", "movable"]) model.on(`change:${name}`, drawCurve);
  const stop = keepDrawn(el, draw);
  drawCurve();
  return stop;
}

export default { render };
