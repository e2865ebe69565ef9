/* Tables of any length: short ones stand whole in the page, long ones scroll in a box that holds only what is seen. */
const WHOLE_ROWS = 400;
const ROW_HEIGHT = 32;
const AROUND = 40;

/**
 * A table of `columns` ({title, right, width}) whose rows `makeRow(item)` makes: a `tr` each, all of one height.
 * `show(items)` draws it anew. Widths, in em, hold where not all rows are there to set them.
 */
function rowTable(label, columns, makeRow) {
  const body = el("tbody");
  const heads = columns.map(({ title, right }) => el("th", { scope: "col", class: right && "to-right" }, title));
  const table = el("table", { "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body);
  const box = el("div", { class: "table-scroll rows", role: "group", "aria-label": label, tabindex: "0" }, table);
  let items = [];
  let drawn = { from: 0, to: 0, rows: [] };

  const rowAt = (place) => {
    if (place >= drawn.from && place < drawn.to) return drawn.rows[place - drawn.from];
    const row = makeRow(items[place]);
    row.setAttribute("aria-rowindex", String(place + 2));
    return row;
  };
  const draw = (from, to) => {
    const rows = Array.from({ length: to - from }, (_, place) => rowAt(from + place));
    drawn = { from, to, rows };
    body.replaceChildren(spacer(from, columns.length), ...rows, spacer(items.length - to, columns.length));
  };
  const follow = () => {
    if (items.length <= WHOLE_ROWS) return;
    const first = Math.floor(box.scrollTop / ROW_HEIGHT);
    const last = Math.min(items.length, first + Math.ceil((box.clientHeight || 700) / ROW_HEIGHT) + 1);
    const missing = (first < drawn.from && drawn.from > 0) || last > drawn.to;
    if (missing) draw(Math.max(0, first - AROUND), Math.min(items.length, last + AROUND));
  };
  const show = (shown) => {
    items = shown;
    drawn = { from: 0, to: 0, rows: [] };
    const tall = items.length > WHOLE_ROWS;
    box.classList.toggle("virtual", tall);
    heads.forEach((head, place) => {
      const { width } = columns[place];
      head.style.width = tall && width ? `${width}em` : "";
    });
    table.setAttribute("aria-rowcount", String(items.length + 1));
    box.scrollTop = 0;
    if (tall) follow();
    else if (items.length) draw(0, items.length);
    else body.replaceChildren(el("tr", {}, el("td", { colspan: columns.length, class: "note" }, "Nothing matches.")));
  };
  box.addEventListener("scroll", follow, { passive: true });
  new ResizeObserver(follow).observe(box);
  window.addEventListener("beforeprint", () => items.length > WHOLE_ROWS && draw(0, Math.min(items.length, 5 * WHOLE_ROWS)));
  window.addEventListener("afterprint", () => items.length > WHOLE_ROWS && show(items));
  return { box, show };
}

function spacer(rows, columns) {
  const cell = el("td", { colspan: columns });
  cell.style.height = `${rows * ROW_HEIGHT}px`;
  return el("tr", { class: "spacer", "aria-hidden": "true", hidden: rows === 0 }, cell);
}
