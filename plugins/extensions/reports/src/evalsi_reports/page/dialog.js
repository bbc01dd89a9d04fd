// Owns the window of one record: opened from the list, moved through it, closed back to it.
class RecordDialog {
  constructor(rows, moved) {
    this.rows = rows;
    this.moved = moved;
    this.window = $('record');
    $('close').addEventListener('click', () => this.window.close());
    $('previous').addEventListener('click', () => this.step(-1));
    $('next').addEventListener('click', () => this.step(1));
    this.window.addEventListener('click', (event) => { if (event.target === this.window) this.window.close(); });
    this.window.addEventListener('keydown', (event) => {
      if (event.target.closest('summary, input, select')) return;
      const step = { ArrowLeft: -1, ArrowRight: 1, j: 1, k: -1 }[event.key];
      if (step) { event.preventDefault(); this.step(step); }
    });
    this.window.addEventListener('close', () => { history.replaceState(null, '', '#records'); $('list').focus({ preventScroll: true }); });
  }
  open(order, at) {
    this.order = order;
    this.show(at);
    if (!this.window.open) this.window.showModal();
    $('record-body').focus();
  }
  step(by) {
    const at = this.at + by;
    if (at >= 0 && at < this.order.length) { this.show(at); this.moved(at); }
  }
  show(at) {
    this.at = at;
    const row = this.order[at];
    const title = $('record-title');
    title.replaceChildren(isolated(this.rows.ids[row]));
    const trial = this.rows.trials ? `trial ${this.rows.trials[row]} · ` : '';
    put(title, make('small', '', `${trial}${group.format(at + 1)} of ${group.format(this.order.length)}`));
    $('record-body').replaceChildren(recordBody(this.rows, row));
    $('record-body').scrollTop = 0;
    history.replaceState(null, '', `#record/${encodeURIComponent(this.rows.ids[row])}${this.rows.trials ? `/${this.rows.trials[row]}` : ''}`);
    $('previous').disabled = at === 0;
    $('next').disabled = at === this.order.length - 1;
  }
}
