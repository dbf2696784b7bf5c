// The explorer: a grid of heads for each site, one head in detail, tokens that select themselves in all of them.

function render({ model, el }) {
  el.classList.add("rp");
  addNotice(model, el);
  const strips = { source: add(el, "div", "rp-tokens"), target: add(el, "div", "rp-tokens") };
  const panels = add(el, "div", "rp-panels");
  const lower = add(el, "div", "rp-detail");
  const detail = add(add(lower, "div", "rp-scroll"), "canvas", "rp-canvas");
  const readout = add(lower, "div", "rp-readout");
  const spot = add(readout, "div", "rp-spot"); // read out when it changes; what is below it is long, and changes with the head only
  spot.setAttribute("aria-live", "polite");
  spot.setAttribute("aria-atomic", "true");
  const summary = add(readout, "div");
  let bright = null; // as the reader has chosen; before that, wherever all weights are small
  detail.tabIndex = 0;
  detail.setAttribute("role", "application");

  let weights = null; // of all heads, one after the other
  let weightsVersion = null; // of the sentence that they belong to
  let exactVersion = null; // the version whose exact weights have arrived
  let grids = [];
  let place = null; // of the detail
  let cursor = null; // [query, key] of the detail

  const isBright = (matrix) => bright ?? largestOf(matrix) < DIM;

  function drawScale() {
    const isNow = isBright(headAt(...chosen()));
    const old = el.querySelector(".rp-bright");
    if (old && old.getAttribute("aria-pressed") === String(isNow)) return;
    const button = add(addScale(el, isNow), "button", "rp-bright", "show small weights brighter");
    button.setAttribute("aria-pressed", isNow);
    button.addEventListener("click", () => {
      bright = !isNow;
      draw();
      el.querySelector(".rp-bright").focus();
    });
  }

  const sites = () => model.get("sites");
  const chosen = () => model.get("chosen");
  const tokensOf = (side) => model.get(side);

  function headAt(site, layer, head) {
    let start = 0;
    for (const [s, { layers, queries, keys }] of sites().entries()) {
      const length = tokensOf(queries).length * tokensOf(keys).length;
      for (const [l, heads] of layers.entries()) {
        if (s === site && l === layer) return weights.subarray(start + head * length, start + (head + 1) * length);
        start += heads * length;
      }
    }
  }

  async function receive() {
    const began = performance.now();
    const version = model.get("version");
    model.send("weights"); // the exact ones; without a kernel nothing answers, and the shades stay
    const stream = new Blob([asBytes(model.get("shades"))]).stream().pipeThrough(new DecompressionStream("deflate"));
    const shades = new Uint8Array(await new Response(stream).arrayBuffer());
    if (version !== model.get("version") || exactVersion === version) return;
    weights = Float32Array.from(shades, (shade) => shade / 255);
    weightsVersion = version;
    build();
    el.dataset.paintedMs = Math.round(performance.now() - began);
  }

  model.on("msg:custom", (content, buffers) => {
    if (content.version !== model.get("version")) return;
    weights = asFloats(buffers[0]);
    weightsVersion = exactVersion = content.version;
    build();
    el.dataset.exact = content.version;
  });

  // Which row and which column of a site a selected token is; undefined = none.
  function rowAndColumn(site) {
    const { side, index } = model.get("token");
    return [site.queries === side ? index : undefined, site.keys === side ? index : undefined];
  }

  function build() {
    cursor = null;
    buildTokens();
    panels.replaceChildren();
    grids = sites().map((site, s) => {
      const panel = add(panels, "div", "rp-panel");
      add(panel, "div", "rp-title", site.title);
      const canvas = add(panel, "canvas", "rp-canvas");
      canvas.tabIndex = 0;
      canvas.setAttribute("role", "application");
      canvas.setAttribute("aria-label", `${site.title}: heads; arrow keys choose one`);
      const grid = { site, s, canvas };
      canvas.addEventListener("click", (event) => {
        const found = locate(grid, event);
        if (found) choose([s, found.layer, found.head]);
      });
      canvas.addEventListener("mousemove", (event) => {
        const found = locate(grid, event);
        if (found && found.q !== undefined) report(s, found.layer, found.head, found.q, found.k);
      });
      canvas.addEventListener("mouseleave", () => report(...chosen(), ...(cursor || [])));
      canvas.addEventListener("keydown", (event) => {
        if (!ARROWS[event.key]) return;
        event.preventDefault();
        const [down, right] = ARROWS[event.key];
        let [, layer, head] = chosen()[0] === s ? chosen() : [s, site.layers.findIndex((heads) => heads > 0), 0];
        if (chosen()[0] === s) {
          let next = layer + down;
          while (site.layers[next] === 0) next += down;
          if (site.layers[next]) layer = next;
          head = clamp(head + right, 0, site.layers[layer] - 1);
        }
        if (site.layers[layer]) choose([s, layer, head]);
      });
      return grid;
    });
    draw();
  }

  function buildTokens() {
    for (const side of ["source", "target"]) {
      const strip = strips[side];
      strip.replaceChildren();
      strip.setAttribute("role", "toolbar");
      strip.setAttribute("aria-label", `${side} tokens`);
      add(strip, "span", "rp-side", side);
      tokensOf(side).forEach((token, index) => {
        const button = add(strip, "button", "rp-token", token);
        button.tabIndex = index ? -1 : 0;
        button.addEventListener("click", () => {
          const { side: s, index: i } = model.get("token");
          model.set("token", s === side && i === index ? {} : { side, index });
          model.save_changes();
        });
        button.addEventListener("keydown", (event) => {
          const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
          const buttons = [...strip.querySelectorAll("button")];
          const next = buttons[index + step];
          if (!step || !next) return;
          button.tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
        });
      });
    }
  }

  function choose(head) {
    model.set("chosen", head);
    model.save_changes();
  }

  // Where the thumbnails begin, how large each is, the most heads of a layer, and the shape of a matrix.
  function layout({ site, canvas }) {
    const rows = tokensOf(site.queries).length;
    const columns = tokensOf(site.keys).length;
    const most = Math.max(...site.layers, 1);
    const room = canvas.parentElement.clientWidth - 34;
    const width = clamp(Math.floor(room / most) - 4, 22, 120);
    const height = clamp(Math.round((width * rows) / columns), 16, 160);
    return { left: 30, top: 20, width, height, most, rows, columns };
  }

  function locate(grid, event) {
    const { left, top, width, height, rows, columns } = layout(grid);
    const box = grid.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - left, event.clientY - box.top - top];
    const [layer, head] = [Math.floor(y / (height + 4)), Math.floor(x / (width + 4))];
    if (x < 0 || y < 0 || layer >= grid.site.layers.length || head >= grid.site.layers[layer]) return null;
    const [k, q] = [Math.floor(((x % (width + 4)) / width) * columns), Math.floor(((y % (height + 4)) / height) * rows)];
    return k < columns && q < rows ? { layer, head, q, k } : { layer, head };
  }

  function draw() {
    if (weightsVersion !== model.get("version")) return; // the weights of a new sentence are on their way
    for (const grid of grids) {
      const { site, s, canvas } = grid;
      const { left, top, width, height, most, rows, columns } = layout(grid);
      const context = sized(canvas, left + most * (width + 4), top + site.layers.length * (height + 4));
      const style = getComputedStyle(canvas);
      context.font = `12px ${style.fontFamily}`;
      context.fillStyle = style.color;
      context.textAlign = "center";
      for (let head = 0; head < most; head++) context.fillText(`${head + FIRST}`, left + head * (width + 4) + width / 2, 10);
      const [row, column] = rowAndColumn(site);
      site.layers.forEach((heads, layer) => {
        const y = top + layer * (height + 4);
        context.fillStyle = style.color;
        context.textAlign = "left";
        context.fillText(`L${layer + FIRST}`, 2, y + height / 2);
        if (!heads) context.fillText("no attention", left, y + height / 2);
        for (let head = 0; head < heads; head++) {
          const x = left + head * (width + 4);
          const matrix = headAt(s, layer, head);
          context.drawImage(picture(matrix, rows, columns, isBright(matrix)), x, y, width, height);
          context.strokeStyle = "#e69f00";
          context.lineWidth = 1.5;
          if (row !== undefined) context.strokeRect(x, y + (row * height) / rows, width, height / rows);
          if (column !== undefined) context.strokeRect(x + (column * width) / columns, y, width / columns, height);
          if (`${chosen()}` === `${[s, layer, head]}`) {
            for (const [line, ink] of [[5, style.color], [3, "#e69f00"]]) {
              context.strokeStyle = ink;
              context.lineWidth = line;
              context.strokeRect(x - 1, y - 1, width + 2, height + 2);
            }
          }
        }
      });
    }
    drawDetail();
    drawScale();
    shadeTokens();
    report(...chosen(), ...(cursor || []));
  }

  function drawDetail() {
    const [s, layer, head] = chosen();
    const site = sites()[s];
    const [queries, keys] = [tokensOf(site.queries), tokensOf(site.keys)];
    const [row, column] = rowAndColumn(site);
    const size = cellSize(Math.max(queries.length, keys.length), 560, 42);
    const matrix = headAt(s, layer, head);
    place = drawMatrix(detail, { weights: matrix, queries, keys, size, row, column, cursor, bright: isBright(matrix) });
    detail.setAttribute("aria-label", `${site.title}, layer ${layer + FIRST}, head ${head + FIRST}; arrow keys move over the weights`);
  }

  // With a token selected, every other token shows the weight between the two in the chosen head.
  function shadeTokens() {
    const [s, layer, head] = chosen();
    const site = sites()[s];
    const matrix = headAt(s, layer, head);
    const columns = tokensOf(site.keys).length;
    const [row, column] = rowAndColumn(site);
    const { side, index } = model.get("token");
    for (const other of ["source", "target"]) {
      strips[other].querySelectorAll("button").forEach((button, i) => {
        let weight = 0;
        if (row !== undefined && other === site.keys) weight = matrix[row * columns + i];
        else if (column !== undefined && other === site.queries) weight = matrix[i * columns + column];
        button.style.setProperty("--weight", Math.min(1, weight));
        button.setAttribute("aria-pressed", side === other && index === i);
      });
    }
  }

  function report(s, layer, head, q, k) {
    if (weightsVersion !== model.get("version")) return;
    const isExact = exactVersion === model.get("version");
    const site = sites()[s];
    const [queries, keys] = [tokensOf(site.queries), tokensOf(site.keys)];
    spot.replaceChildren();
    summary.replaceChildren();
    add(spot, "div", "rp-title", `${site.title}, layer ${layer + FIRST}, head ${head + FIRST}`);
    const line = (part, name, value, className) => {
      const row = add(part, "div", "rp-line");
      add(row, "span", "rp-name", name);
      add(row, "span", className || "rp-value", value);
    };
    if (q !== undefined) {
      const matrix = headAt(s, layer, head);
      const cells = matrix.subarray(q * keys.length, (q + 1) * keys.length);
      const sum = cells.reduce((total, weight) => total + weight, 0);
      line(spot, "query", `${queries[q]}  (${q})`);
      line(spot, "key", `${keys[k]}  (${k})`);
      line(spot, "weight", isExact ? exactly(cells[k]) : `about ${fixed(cells[k], 2)}`, "rp-value rp-weight");
      line(spot, "row sum", isExact ? fixed(sum, 6) : `about ${fixed(sum, 1)}`, "rp-value rp-sum");
    } else {
      add(spot, "div", "rp-hint", "Point at a weight, or press the arrow keys in a matrix. Click a head for its detail, a token to follow it.");
    }
    const [confidence, entropy, distance] = site.statistics[layer][head];
    add(summary, "div", "rp-title", "This head on this sentence");
    line(summary, "mean largest weight, without (end)", fixed(confidence, 3), "rp-value rp-confidence");
    line(summary, "entropy (nats)", fixed(entropy, 3), "rp-value rp-entropy");
    line(summary, "distance in tokens, without (end)", fixed(distance, 2), "rp-value rp-distance");
  }

  detail.addEventListener("mousemove", (event) => {
    const cell = place && place.cellAt(event);
    report(...chosen(), ...(cell || cursor || []));
  });
  detail.addEventListener("mouseleave", () => report(...chosen(), ...(cursor || [])));
  detail.addEventListener("keydown", (event) => {
    if (!ARROWS[event.key]) return;
    event.preventDefault();
    const site = sites()[chosen()[0]];
    const [down, right] = cursor ? ARROWS[event.key] : [0, 0];
    const [q, k] = cursor || [0, 0];
    cursor = [clamp(q + down, 0, tokensOf(site.queries).length - 1), clamp(k + right, 0, tokensOf(site.keys).length - 1)];
    drawDetail();
    place.reveal(cursor);
    report(...chosen(), ...cursor);
  });

  model.on("change:version", receive);
  model.on("change:token", draw);
  model.on("change:chosen", () => {
    cursor = null;
    draw();
  });
  const ends = [keepDrawn(el, draw), hideStandIn(el)];
  receive();
  return () => ends.forEach((end) => end());
}

export default { render };
