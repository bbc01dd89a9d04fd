// Owns the rows: unpacked once, then asked for scores, outcomes and texts. embedding.py writes what is read here.
const unpack = async () => {
  const holder = $('data');
  const packed = atob(holder.textContent);
  holder.textContent = '';
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return JSON.parse(await new Response(stream).text());
};
const plain = (text) => (Array.isArray(text) ? text[0] : text);

class Rows {
  constructor(data) {
    Object.assign(this, data);
    this.count = data.ids.length;
    this.metricsOf = data.evaluators.map((name) => data.metrics.flatMap((metric, at) => (metric[1] === name ? [at] : [])));
    this.passes = data.metrics.flatMap((metric, at) => (metric[2] === 'pass' && metric[3] === true ? [at] : []));
    this.haystacks = [];
  }
  score(metric, row) {
    const value = this.scores[metric][row];
    if (value === null) return null;
    const [, , kind, , unit] = this.metrics[metric];
    if (kind === 'pass' && !this.passes.includes(metric)) return { text: value ? 'yes' : 'no', tone: 'plain' };
    if (kind === 'pass') return value ? { text: 'pass', tone: 'pass' } : { text: 'fail', tone: 'fail' };
    if (kind === 'label') return { text: this.labels[metric][value], tone: 'plain' };
    return { text: unit ? `${figure(value)} ${unit}` : figure(value), tone: 'plain', value };
  }
  // What stands in the cell of a metric: its score, or why there is none.
  cell(metric, row) {
    const found = this.score(metric, row);
    if (found) return found;
    const at = this.evaluators.indexOf(this.metrics[metric][1]);
    const mark = at < 0 ? '-' : this.outcomes[at][row];
    return { e: { text: 'error', tone: 'error' }, k: { text: 'skipped', tone: 'quiet' }, c: { text: 'cancelled', tone: 'quiet' } }[mark]
      || { text: '–', tone: 'quiet' };
  }
  has(outcome, metric, row) {
    if (outcome === 'all') return metric < 0 || this.cell(metric, row).text !== '–';
    if (outcome === 'failed' || outcome === 'passed') {
      const wanted = outcome === 'passed' ? 1 : 0;
      if (metric >= 0) return this.passes.includes(metric) && this.scores[metric][row] === wanted;
      if (outcome === 'failed') return this.passes.some((at) => this.scores[at][row] === 0);
      return this.passes.length > 0 && this.passes.every((at) => this.scores[at][row] !== 0) && this.passes.some((at) => this.scores[at][row] === 1);
    }
    const mark = { error: 'e', skipped: 'k', cancelled: 'c' }[outcome];
    if (metric >= 0) return this.outcomes[this.evaluators.indexOf(this.metrics[metric][1])]?.[row] === mark;
    return this.outcomes.some((marks) => marks[row] === mark);
  }
  status(row) {
    if (this.has('failed', -1, row)) return 'fail';
    if (this.has('error', -1, row)) return 'error';
    if (this.has('passed', -1, row)) return 'pass';
    return this.scores.some((scores) => scores[row] !== null) ? 'plain' : 'quiet';
  }
  excerpt(row) {
    const texts = this.rows[row].i || this.rows[row].o || this.rows[row].r || [''];
    return plain(texts[0]).slice(0, 200).replace(/\s+/g, ' ');
  }
  haystack(row) {
    const known = this.haystacks[row];
    if (known !== undefined) return known;
    const found = [this.ids[row]];
    for (const [name, value] of Object.entries(this.rows[row])) {
      if (name === 'f') found.push(value);
      else if (name !== 's') for (const text of value) found.push(plain(text));
      else for (const said of value) {
        if (said.x) for (const text of Object.values(said.x)) found.push(plain(text));
        if (said.r) found.push(plain(said.r));
        if (said.e) found.push(said.e[0]);
        if (said.j) for (const at of said.j) found.push(plain(this.replies[at][1]));
      }
    }
    return (this.haystacks[row] = found.join('\n').toLowerCase());
  }
}
