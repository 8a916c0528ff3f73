// @ts-check
// What moves in a report. Everything is drawn without it already.
(() => {
  "use strict";

  const tip = /** @type {HTMLElement} */ (document.getElementById("tip"));

  /**
   * @template {Element} T
   * @param {ParentNode} root
   * @param {string} selector
   * @returns {T[]}
   */
  const all = (root, selector) => /** @type {T[]} */ ([...root.querySelectorAll(selector)]);

  /**
   * Shows a text beside a place of the window.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  function show(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
    const top = y + 14 + height > window.innerHeight ? y - 14 - height : y + 14;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }

  function hide() {
    tip.hidden = true;
    for (const mark of all(document, ".m.on")) mark.classList.remove("on");
    for (const cursor of all(document, ".cursor.on")) cursor.classList.remove("on");
  }

  /** Drawings of marks that have a text each. @param {SVGSVGElement} svg */
  function marks(svg) {
    let at = -1;
    svg.addEventListener("pointermove", (event) => {
      const mark = event.target instanceof Element ? event.target.closest(".m") : null;
      const text = mark?.getAttribute("data-t");
      if (text) show(text, event.clientX, event.clientY);
      else hide();
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const list = all(svg, ".m");
      if (event.key === "ArrowRight") at = Math.min(at + 1, list.length - 1);
      else if (event.key === "ArrowLeft") at = Math.max(at - 1, 0);
      else if (event.key === "Home") at = 0;
      else if (event.key === "End") at = list.length - 1;
      else if (event.key === "Escape") return hide();
      else return;
      event.preventDefault();
      const mark = list[at];
      if (!mark) return;
      hide();
      mark.classList.add("on");
      const box = mark.getBoundingClientRect();
      show(mark.getAttribute("data-t") ?? "", box.left + box.width / 2, box.bottom - 8);
    });
  }

  /** @param {number} value */
  function digits(value) {
    return Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });
  }

  /** @param {string | undefined} text */
  function unit(text) {
    const [factor, name] = (text ?? "1 ").split(" ");
    return { factor: Number(factor), name: name ?? "" };
  }

  /** Line charts: values at a place of the horizontal axis. @param {SVGSVGElement} svg */
  function lines(svg) {
    const axis = (svg.dataset["x"] ?? "").split(" ").map(Number);
    const [d0 = 0, d1 = 1, r0 = 0, r1 = 1, isLog = 0] = axis;
    const x = unit(svg.dataset["xu"]);
    const y = unit(svg.dataset["yu"]);
    const steps = svg.dataset["steps"] === "1";
    const cursor = svg.querySelector(".cursor");
    /** @type {SVGPathElement[]} */
    const paths = all(svg, "path.line");
    const series = paths.map((path) => ({
      path,
      name: path.dataset["name"] ?? "",
      points: (path.dataset["v"] ?? "")
        .split(" ")
        .map((pair) => /** @type {[number, number]} */ (pair.split(",").map(Number))),
    }));
    let at = r0;

    /** @param {number} place in the drawing */
    function valueAt(place) {
      const share = (place - r0) / (r1 - r0);
      return (isLog ? d0 * (d1 / d0) ** share : d0 + share * (d1 - d0)) / x.factor;
    }

    /** @param {[number, number][]} points @param {number} value */
    function lineAt(points, value) {
      let low = 0;
      let high = points.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((points[middle]?.[0] ?? 0) <= value * (1 + 1e-6)) low = middle + 1;
        else high = middle;
      }
      const before = points[low - 1];
      const after = points[low];
      if (!before) return steps ? 0 : undefined;
      if (!after || steps) return before[1];
      return value - before[0] < after[0] - value ? before[1] : after[1];
    }

    /** @param {number} place @param {number} clientX @param {number} clientY */
    function read(place, clientX, clientY) {
      at = Math.min(r1, Math.max(r0, place));
      cursor?.setAttribute("x1", String(at));
      cursor?.setAttribute("x2", String(at));
      cursor?.classList.add("on");
      const value = valueAt(at);
      const rows = series
        .filter((one) => !one.path.classList.contains("off"))
        .map((one) => {
          const found = lineAt(one.points, value);
          return found === undefined ? "" : `\n${one.name}: ${digits(found)} ${y.name}`;
        });
      show(`${digits(value)} ${x.name}${rows.join("")}`, clientX, clientY);
    }

    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const place = ((event.clientX - box.left) / box.width) * 1100;
      if (place < r0 - 6 || place > r1 + 6) hide();
      else read(place, event.clientX, event.clientY);
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const by = event.shiftKey ? 50 : 8;
      if (event.key === "ArrowRight") at += by;
      else if (event.key === "ArrowLeft") at -= by;
      else if (event.key === "Home") at = r0;
      else if (event.key === "End") at = r1;
      else if (event.key === "Escape") return hide();
      else return;
      event.preventDefault();
      at = Math.min(r1, Math.max(r0, at));
      const box = svg.getBoundingClientRect();
      read(at, box.left + (at / 1100) * box.width, box.top + 20);
    });
  }

  for (const svg of /** @type {SVGSVGElement[]} */ (all(document, "svg[data-marks]"))) marks(svg);
  for (const svg of /** @type {SVGSVGElement[]} */ (all(document, "svg.lines"))) lines(svg);

  for (const figure of all(document, "figure.chart")) {
    const paths = all(figure, "svg.lines path.line");
    for (const button of all(figure, "button[data-line]")) {
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") === "true";
        button.setAttribute("aria-pressed", String(!shown));
        const line = button.getAttribute("data-line");
        paths[Number(line)]?.classList.toggle("off", shown);
        for (const mark of all(figure, `[data-of="${line}"]`)) mark.classList.toggle("off", shown);
      });
    }
  }

  for (const select of /** @type {HTMLSelectElement[]} */ (all(document, "select[data-panels]"))) {
    const prefix = select.dataset["panels"] ?? "";
    const update = () => {
      for (const option of select.options) {
        const panel = document.getElementById(`${prefix}-${option.value}`);
        if (panel) panel.hidden = option.value !== select.value;
      }
    };
    select.addEventListener("change", update);
    // A browser may bring back what was chosen before the page was loaded again.
    update();
  }

  for (const group of all(document, ".controls[role=group]")) {
    const section = group.closest("section");
    const buttons = all(group, "button[data-metric]");
    for (const button of buttons) {
      button.addEventListener("click", () => {
        const metric = button.getAttribute("data-metric") ?? "u";
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
        if (!section) return;
        for (const end of all(section, "[data-end]")) {
          end.toggleAttribute("hidden", end.getAttribute("data-end") !== metric);
        }
        for (const cell of /** @type {SVGRectElement[]} */ (all(section, ".heat rect"))) {
          cell.style.setProperty("--v", cell.dataset[metric] ?? "0");
        }
      });
    }
  }
})();
