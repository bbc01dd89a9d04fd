// Owns what is shown and in which order, and begins everything once the page is painted.
const option = (value, text) => { const found = make('option', '', text); found.value = value; return found; };
const SORTS = { worst: 'lowest first', data: 'order of the data', id: 'id', slow: 'slowest first' };

class Filters {
  constructor(rows, list) {
    this.rows = rows;
    this.list = list;
    const outcomes = [['all', 'all'], ['failed', 'failed a check'], ['passed', 'passed'], ['error', 'error'], ['skipped', 'skipped'], ['cancelled', 'cancelled']];
    for (const [value, text] of outcomes) {
      let count = 0;
      for (let row = 0; row < rows.count; row++) if (rows.has(value, -1, row)) count++;
      if (value === 'all' || count) $('outcome').append(option(value, `${text} (${group.format(count)})`));
    }
    $('metric').append(option('-1', 'any'), ...rows.metrics.map((metric, at) => option(String(at), metric[0])));
    for (const [value, text] of Object.entries(SORTS)) if (value !== 'slow' || rows.latency) $('sort').append(option(value, text));
    rows.evaluators.forEach((name, at) => { if (rows.took?.[at]) $('sort').append(option(`took ${at}`, `${name}, slowest first`)); });
    rows.metrics.forEach((metric, at) => {
      if (metric[2] === 'number') $('sort').append(option(`up ${at}`, `${metric[0]}, rising`), option(`down ${at}`, `${metric[0]}, falling`));
    });
    for (const id of ['outcome', 'metric', 'sort']) $(id).addEventListener('change', () => this.apply());
    $('search').addEventListener('input', () => { clearTimeout(this.later); this.later = setTimeout(() => this.apply(), 120); });
    $('search').form.addEventListener('submit', (event) => { event.preventDefault(); this.apply(); $('list').focus(); });
    document.addEventListener('click', (event) => {
      const link = event.target.closest('a[data-outcome]');
      if (link) this.follow(link.dataset.outcome, link.dataset.metric);
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === '/' && !event.target.closest('input, select, dialog')) { event.preventDefault(); $('search').focus(); }
    });
  }
  follow(outcome, metric) {
    $('search').value = '';
    $('outcome').value = outcome;
    $('metric').value = String(this.rows.metrics.findIndex((one) => one[0] === metric));
    this.apply();
  }
  apply() {
    const { rows } = this;
    const outcome = $('outcome').value, metric = Number($('metric').value);
    const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const order = [];
    for (let row = 0; row < rows.count; row++) {
      if (rows.has(outcome, metric, row) && words.every((word) => rows.haystack(row).includes(word))) order.push(row);
    }
    order.sort(this.comparing($('sort').value));
    $('found').textContent = `${counted(order.length, 'row')} of ${group.format(rows.count)}`;
    this.list.show(order, metric);
  }
  comparing(sort) {
    const { rows } = this;
    const last = (value, sign) => (value === null ? Infinity : sign * value);
    if (sort === 'worst') return (one, other) => rows.bad[other] - rows.bad[one] || one - other;
    if (sort === 'id') return (one, other) => rows.ids[one].localeCompare(rows.ids[other], 'en', { numeric: true }) || one - other;
    if (sort === 'slow') return (one, other) => last(rows.latency[one], -1) - last(rows.latency[other], -1) || one - other;
    if (sort === 'data') return (one, other) => one - other;
    const [way, at] = sort.split(' ');
    const scores = (way === 'took' ? rows.took : rows.scores)[Number(at)], sign = way === 'up' ? 1 : -1;
    return (one, other) => { const found = last(scores[one], sign) - last(scores[other], sign); return found || one - other; };
  }
}

// The address of a record: #record/ID, or #record/ID/TRIAL.
const named = (rows) => {
  const [place, id, trial] = location.hash.slice(1).split('/').map(decodeURIComponent);
  return place === 'record' ? rows.ids.findIndex((one, row) => one === id && (!trial || !rows.trials || String(rows.trials[row]) === trial)) : -1;
};
const linkIds = (rows) => {
  const known = new Set(rows.ids);
  for (const code of document.querySelectorAll('.ids code')) {
    if (!known.has(code.textContent)) continue;
    const link = make('a');
    link.href = `#record/${encodeURIComponent(code.textContent)}`;
    code.replaceWith(link);
    link.append(code);
  }
};

const begin = async () => {
  if (!('DecompressionStream' in window)) throw new Error('it lacks DecompressionStream');
  const rows = new Rows(await unpack());
  const dialog = new RecordDialog(rows, (at) => list.go(at));
  const list = new List(rows, (at) => dialog.open(list.order, at));
  $('explorer').hidden = false;
  new Filters(rows, list).apply();
  linkIds(rows);
  const follow = () => { const row = named(rows); if (row >= 0) dialog.open(list.order.includes(row) ? list.order : [row], Math.max(0, list.order.indexOf(row))); };
  window.addEventListener('hashchange', follow);
  follow();
  document.documentElement.dataset.ready = 'yes';
};
requestAnimationFrame(() => setTimeout(() => begin().catch((error) => {
  $('unpack').hidden = false;
  $('unpack').textContent = `This browser cannot unpack the list of records: ${error.message}. Everything else on this page is complete.`;
})));
