// Owns the list of records: only the rows in sight are elements, whatever the number of records.
class List {
  constructor(rows, opened) {
    this.rows = rows;
    this.opened = opened;
    this.order = [];
    this.active = 0;
    this.box = $('list');
    this.inner = put(this.box, make('div', 'inner')).lastChild;
    this.narrow = matchMedia('(max-width: 720px)');
    this.columns = rows.metrics.map((_, at) => at).slice(0, 6);
    this.box.addEventListener('scroll', () => this.draw(), { passive: true });
    this.box.addEventListener('keydown', (event) => this.key(event));
    this.box.addEventListener('click', (event) => {
      const line = event.target.closest('.line');
      if (line) { this.go(Number(line.dataset.at)); this.opened(this.active); }
    });
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.narrow.addEventListener('change', () => { this.measure(); this.draw(); });
    this.measure();
  }
  measure() {
    this.height = this.narrow.matches ? 88 : 52;
    const head = $('columns');
    head.replaceChildren(make('span', 'name', 'record'), ...this.columns.map((at) => make('span', 'cell', this.rows.metrics[at][0])));
  }
  show(order, column) {
    this.order = order;
    this.active = 0;
    const first = this.rows.metrics.map((_, at) => at);
    this.columns = (column < 0 ? first : [column, ...first.filter((at) => at !== column)]).slice(0, 6);
    this.box.scrollTop = 0;
    this.measure();
    this.draw();
  }
  draw() {
    const { height, order } = this;
    this.inner.style.height = `${order.length * height}px`;
    const from = Math.max(0, Math.floor(this.box.scrollTop / height) - 4);
    const to = Math.min(order.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / height) + 4);
    this.inner.replaceChildren();
    for (let at = from; at < to; at++) this.inner.append(this.line(at));
    if (order.length) this.box.setAttribute('aria-activedescendant', `line-${this.active}`);
    else this.box.removeAttribute('aria-activedescendant');
  }
  line(at) {
    const { rows } = this, row = this.order[at];
    const found = make('div', `line ${rows.status(row)}`);
    found.id = `line-${at}`;
    found.dataset.at = at;
    found.setAttribute('role', 'option');
    found.setAttribute('aria-selected', String(at === this.active));
    found.setAttribute('aria-setsize', this.order.length);
    found.setAttribute('aria-posinset', at + 1);
    found.style.height = `${this.height}px`;
    found.style.transform = `translateY(${at * this.height}px)`;
    const trial = rows.trials ? make('small', '', ` trial ${rows.trials[row]}`) : null;
    const name = put(make('span', 'name'), put(make('span', 'id'), isolated(rows.ids[row]), trial), put(make('span', 'excerpt'), isolated(rows.excerpt(row))));
    put(found, name);
    for (const metric of this.columns) {
      const { text, tone } = rows.cell(metric, row);
      const cell = put(make('span', `cell ${tone}`), put(make('span', 'of'), isolated(rows.metrics[metric][0])), make('b', '', text));
      put(found, cell);
    }
    return found;
  }
  go(at) {
    this.active = Math.max(0, Math.min(this.order.length - 1, at));
    const top = this.active * this.height, bottom = top + this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = bottom - this.box.clientHeight;
    this.draw();
  }
  key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (by !== undefined) { event.preventDefault(); this.go(this.active + by); }
    else if ((event.key === 'Enter' || event.key === ' ') && this.order.length) { event.preventDefault(); this.opened(this.active); }
  }
}
