/**
 * Shows progress: redrawn lines on a terminal, a line now and then elsewhere, or events as JSON.
 */

import type { Event } from '../../contract/schema/schema.ts';
import { jobState } from '../../kernel/lifecycle/job.ts';
import type { Call } from '../command.ts';
import type { JobClient } from '../pawl-client.ts';
import type { Progress } from './progress.ts';
import { count, cut, number, printable, saidOf, widthOf } from './wording.ts';

export interface ProgressView {
  see(event: Event): void;
  /** Called when the counts have changed, and every second. */
  show(progress: Progress): void;
  end(progress: Progress): void;
}

export function openView(call: Call, job: JobClient): ProgressView {
  if (call.isJson) return jsonView(call);
  return call.terminal.isLive ? new LiveView(call, job) : new PlainView(call, job);
}

function jsonView({ terminal }: Call): ProgressView {
  return {
    see: (event) => terminal.print(JSON.stringify(event)),
    show: () => undefined,
    end: () => undefined,
  };
}

const barColumns = 30;

/** Two redrawn lines: how much is done, and which steps are running. */
class LiveView implements ProgressView {
  readonly #call: Call;
  readonly #job: JobClient;
  #drawn = 0;

  constructor(call: Call, job: JobClient) {
    this.#call = call;
    this.#job = job;
    call.terminal.draw(hideCursor);
  }

  see(): void {
    // All that this view shows comes from the counts.
  }

  show(progress: Progress): void {
    const { terminal } = this.#call;
    const lines = [this.#bar(progress), this.#detail(progress)].map((line) =>
      widthOf(line) < terminal.columns() ? line : cut(printable(line), terminal.columns() - 1),
    );
    terminal.draw(`${this.#erase()}${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }

  end(): void {
    this.#call.terminal.draw(`${this.#erase()}${showCursor}`);
    this.#drawn = 0;
  }

  #bar(progress: Progress): string {
    const { terminal } = this.#call;
    const { state, items_total: total, items_failed: failed } = progress.counts;
    const share = total === 0 ? 1 : progress.ended / total;
    const filled = Math.floor(share * barColumns);
    const bad = failed === 0 ? 0 : Math.max(1, Math.round((failed / total) * barColumns));
    const good = Math.max(filled - bad, 0);
    const bar = [
      terminal.paint('green', '━'.repeat(good)),
      terminal.paint('red', '━'.repeat(Math.min(bad, barColumns - good))),
      terminal.paint('dim', '╌'.repeat(Math.max(barColumns - good - bad, 0))),
    ].join('');
    const percent = `${Math.floor(share * 100)}%`.padStart(4);
    const pace = progress.ended < total && state !== jobState.paused ? progress.pace : '';
    const counts = `${number(progress.ended)} of ${count(total, 'document')}`;
    const name = terminal.paint('bold', this.#job.corpus);
    return `${name}  ${bar} ${percent}  ${counts}  ${terminal.paint('dim', pace)}`.trimEnd();
  }

  #detail(progress: Progress): string {
    const { terminal } = this.#call;
    const indent = ' '.repeat(this.#job.corpus.length + 2);
    const { state } = progress.counts;
    if (state === jobState.paused)
      return `${indent}${terminal.paint('yellow', pausedLine(this.#job))}`;
    const running = progress.stageCounts.map(([stage, running]) => {
      const text = `${stage} ${number(running)}`;
      return running === 0 ? terminal.paint('dim', text) : text;
    });
    const { items_failed: failed, items_waiting: waiting } = progress.counts;
    if (waiting > 0) running.push(terminal.paint('yellow', `waiting to retry ${number(waiting)}`));
    if (failed > 0) running.push(terminal.paint('red', `failed ${number(failed)}`));
    return `${indent}${running.join('   ')}`;
  }

  #erase(): string {
    return this.#drawn === 0 ? '' : `\r\x1b[${this.#drawn}A\x1b[0J`;
  }
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
const failuresShownMax = 20;
const waitsShownMax = 20;
/** Shorter waits are over before anybody can read the line. */
const waitShownMs = 5_000;

/** Prints a line for each tenth, each pause, and the first failures and long waits. */
class PlainView implements ProgressView {
  readonly #call: Call;
  readonly #job: JobClient;
  #tenths = 0;
  #failures = 0;
  #waits = 0;

  constructor(call: Call, job: JobClient) {
    this.#call = call;
    this.#job = job;
  }

  see({ kind, at, item_id, detail }: Event): void {
    const { terminal } = this.#call;
    if (kind === 'retry_scheduled') {
      const isLong = Number(detail.due_at) - Date.parse(at) >= waitShownMs;
      if (isLong && this.#waits < waitsShownMax) {
        this.#waits += 1;
        terminal.tell(`waiting: ${detail.reason} (pawl inbox show ${item_id})`);
      }
      return;
    }
    if (kind === 'job_paused') terminal.tell(pausedLine(this.#job));
    if (kind === 'job_resumed') terminal.tell('resumed');
    if (kind !== 'item_failed') return;
    this.#failures += 1;
    if (this.#failures > failuresShownMax) return;
    // Older versions of Pawl did not store the source of a failure.
    const said = saidOf(String(detail.source ?? ''), String(detail.message));
    terminal.tell(`failed: ${printable(said)} (${detail.code})`);
  }

  show(progress: Progress): void {
    const { items_total: total } = progress.counts;
    const tenths = Math.floor((progress.ended * 10) / total);
    if (tenths === this.#tenths) return;
    this.#tenths = tenths;
    const pace = progress.ended < total && progress.pace ? `, ${progress.pace}` : '';
    this.#call.terminal.tell(`${number(progress.ended)} of ${count(total, 'document')}${pace}`);
  }

  end(): void {
    // Every line is already written.
  }
}

function pausedLine(job: JobClient): string {
  return `paused; resume with: pawl jobs resume ${job.id.slice(0, 8)}`;
}
