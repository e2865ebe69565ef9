/* Tables of any length: short ones stand whole in the page, long ones scroll in a box that holds only what is seen. */
const WHOLE_ROWS = 400;
const ROW_HEIGHT = 32;
const AROUND = 12;

/**
 * A table of `columns` ({title, right}) whose rows `makeRow(item)` makes: a `tr` each, all of one height.
 * `show(items)` draws it anew.
 */
function rowTable(label, columns, makeRow) {
  const body = el("tbody");
  const heads = columns.map(({ title, right }) => el("th", { scope: "col", class: right && "to-right" }, title));
  const table = el("table", { "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body);
  const box = el("div", { class: "table-scroll rows", role: "group", "aria-label": label, tabindex: "0" }, table);
  let items = [];
  let drawn = [-1, -1];

  const draw = () => {
    const tall = items.length > WHOLE_ROWS;
    const from = tall ? Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - AROUND) : 0;
    const to = tall ? Math.min(items.length, from + Math.ceil((box.clientHeight || 700) / ROW_HEIGHT) + 2 * AROUND) : items.length;
    if (from === drawn[0] && to === drawn[1]) return;
    drawn = [from, to];
    const rows = items.slice(from, to).map((item, place) => {
      const row = makeRow(item);
      row.setAttribute("aria-rowindex", String(from + place + 2));
      return row;
    });
    body.replaceChildren(spacer(from, columns.length), ...rows, spacer(items.length - to, columns.length));
  };
  const show = (shown) => {
    items = shown;
    drawn = [-1, -1];
    box.classList.toggle("virtual", items.length > WHOLE_ROWS);
    table.setAttribute("aria-rowcount", String(items.length + 1));
    box.scrollTop = 0;
    if (items.length) draw();
    else body.replaceChildren(el("tr", {}, el("td", { colspan: columns.length, class: "note" }, "Nothing matches.")));
  };
  box.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  new ResizeObserver(() => items.length > WHOLE_ROWS && draw()).observe(box);
  window.addEventListener("beforeprint", () => {
    if (items.length > WHOLE_ROWS) body.replaceChildren(...items.slice(0, 5 * WHOLE_ROWS).map(makeRow));
  });
  window.addEventListener("afterprint", () => show(items));
  return { box, show };
}

function spacer(rows, columns) {
  const cell = el("td", { colspan: columns });
  cell.style.height = `${rows * ROW_HEIGHT}px`;
  return el("tr", { class: "spacer", "aria-hidden": "true", hidden: rows === 0 }, cell);
}
