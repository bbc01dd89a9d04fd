// Owns one record as elements: its texts, what evaluators said, raw replies. parts.html shows the same without a script.
const LABELS = { i: ['Input', 'input'], o: ['Output', 'output'], r: ['Reference', 'reference'], c: ['Context', 'context'], t: ['Steps', 'trajectory'], m: ['Metadata', 'metadata'] };
const missing = (text) => (Array.isArray(text) ? make('p', 'cut', `${group.format(text[1])} more characters are in the results file.`) : null);
const written = (text) => {
  const found = make('pre', '', plain(text));
  found.dir = 'auto';
  return found;
};
const isolated = (text) => make('bdi', '', text);
const reply = ([model, text, problem]) => {
  const found = make('details', 'reply');
  const summary = put(make('summary', '', 'Raw reply of '), isolated(model));
  if (problem) put(summary, ' ', make('span', 'bad', problem));
  return put(found, summary, written(text), missing(text));
};
// As figures.py writes times.
const time = (ms) => {
  if (ms < 1) return 'under 1 ms';
  if (ms < 1000) return `${group.format(ms)} ms`;
  return ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} min ${Math.round(ms / 1000) % 60} s`;
};
const saidOf = (rows, row, at, told) => {
  const mark = rows.outcomes[at][row];
  if (mark === '-') return null;
  const scores = rows.metricsOf[at].map((metric) => [rows.metrics[metric][0], rows.score(metric, row)]).filter((one) => one[1]);
  const name = rows.evaluators[at];
  const words = { e: 'error', k: 'skipped', c: 'cancelled' }[mark];
  const text = words || scores.map(([metric, score]) => (metric === name ? score.text : `${metric} ${score.text}`)).join(', ');
  const tone = mark === 'e' ? 'error' : words ? 'skipped' : scores.some((one) => one[1].tone === 'fail') ? 'fail' : scores[0]?.[1].tone || 'plain';
  const ms = rows.took?.[at]?.[row] ?? null;
  const took = ms === null ? null : make('small', '', time(ms));
  const found = put(make('div', `says ${tone}`), put(make('h3'), isolated(name), ' ', make('b', '', text), took && ' ', took));
  const reasons = new Map(Object.values(told.x || {}).map((why) => [plain(why), why]));
  if (told.r) reasons.set(plain(told.r), told.r);
  for (const why of reasons.values()) {
    const line = make('p', 'why', plain(why));
    line.dir = 'auto';
    if (Array.isArray(why)) put(line, ' ', make('span', 'cut', `… ${group.format(why[1])} more characters`));
    put(found, line);
  }
  if (told.e) put(found, put(make('p', 'code'), make('code', '', told.e[0]), ' ', isolated(told.e[1])));
  for (const place of told.j || []) put(found, reply(rows.replies[place]));
  return found;
};
const recordBody = (rows, row) => {
  const texts = make('div', 'texts');
  for (const [key, [label, kind]] of Object.entries(LABELS)) {
    const values = rows.rows[row][key] || [];
    values.forEach((text, at) => {
      const title = values.length === 1 ? label : `${label} ${at + 1} of ${values.length}`;
      put(texts, put(make('div', `text ${kind}`), make('h3', '', title), written(text), missing(text)));
    });
  }
  const said = make('div', 'said');
  const told = new Map((rows.rows[row].s || []).map((one) => [one.v, one]));
  rows.evaluators.forEach((_, at) => put(said, saidOf(rows, row, at, told.get(at) || {})));
  const used = [];
  if (rows.latency && rows.latency[row] !== null) used.push(`latency ${group.format(rows.latency[row])} ms`);
  if (rows.cost && rows.cost[row] !== null) used.push(`cost $${rows.cost[row]}`);
  const found = document.createDocumentFragment();
  if (rows.rows[row].f) put(found, make('p', 'note', `The target gave no output: ${rows.rows[row].f}`));
  return put(found, texts, said, used.length ? make('p', 'quiet', used.join(' · ')) : null);
};
