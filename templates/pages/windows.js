// The layer of windows on the reader's own numbers: outputs, mask and gradients follow every change.
for (const root of document.querySelectorAll(".trial")) {
  root.hidden = false;
  const body = root.querySelector(".body");
  const layer = JSON.parse(root.querySelector("script").textContent);
  const rule = root.querySelector("select");
  const status = root.querySelector("[role=status]");
  const cells = (name, kind) => [...root.querySelectorAll(`[data-name=${name}] tbody tr`)]
    .map((row) => [...row.querySelectorAll(kind)]);
  const grid = { input: cells("input", "input"), upstream: cells("upstream", "input"),
    output: cells("output", "output"), gradient: cells("gradient", "output"), mask: cells("mask", "output") };
  // One axis is a grid of one row.
  const [down, across] = layer.windows.length === 2 ? layer.windows : [[[0]], layer.windows[0]];
  const better = layer.op === "max" ? (a, b) => a > b : (a, b) => a < b;

  // A number as people write it; NaN for anything else.
  const number = (text) => {
    const plain = text.trim().replace("\u2212", "-").replace(",", ".");
    return plain === "" ? NaN : Number(plain);
  };
  const shown = (value) => Number.isFinite(value) ? String(+value.toFixed(3)).replace("-", "\u2212") : "–";

  // The entries of a window that attain its extreme value, row by row.
  function winners(values, rows, columns) {
    let best = null, found = [];
    for (const i of rows) for (const j of columns) {
      const value = values[i][j];
      if (Number.isNaN(value)) return { best: NaN, found: [] };
      if (best === null || better(value, best)) { best = value; found = []; }
      if (value === best) found.push([i, j]);
    }
    return { best, found };
  }

  // What each of the tied entries receives.
  function shares(found) {
    if (rule.value === "first") return [[found[0], 1]];
    if (rule.value === "last") return [[found[found.length - 1], 1]];
    return found.map((cell) => [cell, 1 / found.length]);
  }

  function read(rows) {
    return rows.map((row) => row.map((field) => {
      const value = number(field.value);
      field.setAttribute("aria-invalid", String(!Number.isFinite(value)));
      return Number.isFinite(value) ? value : NaN;
    }));
  }

  function write(rows, values) {
    rows.forEach((row, i) => row.forEach((place, j) => {
      place.textContent = shown(values[i][j]);
      place.dataset.value = values[i][j];
    }));
  }

  function follow() {
    const values = read(grid.input), upstream = read(grid.upstream);
    const zeros = () => values.map((row) => row.map(() => 0));
    const mask = zeros(), gradient = zeros(), tied = [];
    const output = down.map((rows, k) => across.map((columns, l) => {
      const { best, found } = winners(values, rows, columns);
      if (found.length > 1) tied.push(down.length > 1 ? `(${k}, ${l})` : `${l}`);
      for (const [[i, j], share] of found.length ? shares(found) : []) {
        mask[i][j] += share;
        gradient[i][j] += share * upstream[k][l];
      }
      return best === null ? NaN : best;
    }));
    write(grid.output, output);
    write(grid.mask, mask);
    write(grid.gradient, gradient);
    for (const rows of [grid.input, grid.gradient, grid.mask]) {
      rows.forEach((row, i) => row.forEach((place, j) => {
        place.closest("td").className = mask[i][j] > 1 ? "shared" : mask[i][j] > 0 ? "chosen" : "";
      }));
    }
    const wrong = root.querySelectorAll("[aria-invalid=true]").length;
    status.textContent = wrong ? (wrong === 1 ? body.dataset.wrongOne : wrong + body.dataset.wrong)
      : tied.length ? body.dataset.tie + tied.join(", ") + "." : body.dataset.noTie;
  }

  function fill(rows, values) {
    rows.forEach((row, i) => row.forEach((field, j) => { field.value = String(values[i][j]).replace("-", "\u2212"); }));
  }

  // The window of an output is outlined while the pointer is on it or the focus in its gradient.
  function outline(k, l, on) {
    for (const i of down[k]) for (const j of across[l]) {
      for (const rows of [grid.input, grid.gradient]) rows[i][j].closest("td").toggleAttribute("data-window", on);
    }
  }
  down.forEach((_, k) => across.forEach((_, l) => {
    for (const place of [grid.output[k][l].closest("td"), grid.upstream[k][l].closest("td")]) {
      for (const event of ["pointerenter", "focusin"]) place.addEventListener(event, () => outline(k, l, true));
      for (const event of ["pointerleave", "focusout"]) place.addEventListener(event, () => outline(k, l, false));
    }
  }));

  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [1, 0] };
  for (const rows of [grid.input, grid.upstream]) rows.forEach((row, i) => row.forEach((field, j) => {
    field.addEventListener("focus", () => field.select());
    field.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      if (!step) return;
      const next = rows[i + step[0]]?.[j + step[1]];
      const inside = step[1] < 0 ? field.selectionStart > 0 : step[1] > 0 && field.selectionEnd < field.value.length;
      const selected = field.selectionEnd - field.selectionStart === field.value.length;
      if (next && (selected || !inside)) { event.preventDefault(); next.focus(); }
    });
  }));

  root.addEventListener("input", follow);
  root.addEventListener("change", follow);
  root.addEventListener("click", (event) => {
    const draw = event.target.dataset.draw;
    if (draw) {
      fill(grid.input, layer.source.map((row) => row.map(() => Math.floor(Math.random() * draw) + 1)));
    } else if ("reset" in event.target.dataset) {
      fill(grid.input, layer.source);
      fill(grid.upstream, layer.upstream);
      rule.value = layer.rule;
    } else return;
    follow();
  });
  follow();
}
