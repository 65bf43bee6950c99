/** Follows a job to its end, then prints the result and the next steps for failed documents. */
import type { Job, JobDetail } from '../../contract/schema/schema.ts';
import { job as jobMachine, jobState } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { type Call, exits } from '../command.ts';
import type { JobClient, JobCounts, PawlClient } from '../pawl-client.ts';
import { costLine, costPairs } from './cost.ts';
import { Progress } from './progress.ts';
import { openView } from './progress-view.ts';
import { printTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { count, duration, money, number } from './wording.ts';

const redrawMs = 100;

/**
 * Returns the exit code: `interrupted` if the job was still open when the command was interrupted.
 */
export async function follow(
  call: Call,
  job: JobClient,
  from: { readonly after: number },
): Promise<number> {
  const progress = new Progress(await job.counts());
  const view = openView(call, job);
  let isCounting = false;
  const recount = async (): Promise<void> => {
    if (isCounting) return;
    isCounting = true;
    progress.recount(await job.counts(), Date.now());
    isCounting = false;
    if (!call.interrupt.aborted) view.show(progress);
  };
  const timer = setInterval(() => void recount().catch((error) => fail(call, error)), redrawMs);
  try {
    for await (const event of job.events({ ...from, signal: call.interrupt })) {
      progress.see(event);
      view.see(event);
      // The engine paused the job (budget, empty account). It stays paused until somebody resumes
      // it.
      if (event.kind === 'job_paused' && (await job.counts()).pause_reason !== null) break;
    }
  } finally {
    clearInterval(timer);
  }
  progress.recount(await job.counts(), Date.now());
  const { state } = progress.counts;
  if (isFinal(jobMachine, state)) view.show(progress);
  view.end(progress);
  if (state === jobState.paused && progress.counts.pause_reason !== null) {
    return tellPaused(call, await job.detail());
  }
  if (!isFinal(jobMachine, state)) return exits.interrupted;
  printEnd(call, await job.detail());
  return exitOf(progress.counts);
}

/** Prints how to resume after an interruption. */
export function tellStopped({ terminal, isJson }: Call, how = 'the same command'): void {
  if (!isJson) terminal.tell(`stopped; ${how} resumes it`);
}

/** Follows the job. Runs it in this process if no other process works on this store. */
export async function workOrWatch(
  call: Call,
  pawl: PawlClient,
  job: JobClient,
  from: { readonly after: number },
): Promise<number> {
  if (!(await pawl.isWorkedOn())) await pawl.work();
  const exit = await follow(call, job, from);
  if (exit === exits.interrupted) tellStopped(call, `\`pawl jobs watch ${job.id.slice(0, 8)}\``);
  return exit;
}

/** Leaves the job to the processes that work on this store. Without any, runs it here. */
export async function workOrLeave(
  call: Call,
  pawl: PawlClient,
  job: JobClient,
  from: { readonly after: number },
): Promise<number> {
  if (!(await pawl.isWorkedOn())) return workOrWatch(call, pawl, job, from);
  if (call.isJson) call.terminal.print(JSON.stringify(await job.detail()));
  else call.terminal.print('a running Pawl process continues this job');
  return exits.well;
}

const pauseSentences: Readonly<Record<string, string>> = {
  budget_reached: 'this job has reached its budget',
  corpus_budget_reached: 'the corpus has reached its budget',
  quota_exhausted: 'the provider account has no credit left',
};

/** The job waits for more budget or credit. Paid results are kept. */
function tellPaused({ terminal, isJson }: Call, job: Job): number {
  if (isJson) {
    terminal.print(JSON.stringify(job));
    return exits.error;
  }
  const { pause_reason: reason, budget_cents: budget } = job;
  const why = pauseSentences[reason ?? ''] ?? reason;
  const done = `${number(job.items_done)} of ${count(job.items_total, 'document')} done`;
  const of = budget === null ? '' : ` of ${money(budget)}`;
  terminal.print(`paused: ${why}; ${done}, ${costLine(job)}${of}`);
  const more = reason === 'budget_reached' ? ' --budget-cents N' : '';
  const how = `pawl jobs resume ${job.job_id.slice(0, 8)}${more}`;
  terminal.print(`${terminal.paint('dim', 'resume with')}  ${how}`);
  return exits.error;
}

function exitOf({ state, items_failed: failed }: JobCounts): number {
  if (state === jobState.canceled) return exits.error;
  return failed > 0 ? exits.someFailed : exits.well;
}

function printEnd({ terminal, isJson, isQuiet }: Call, job: JobDetail): void {
  if (isJson) {
    terminal.print(JSON.stringify(job));
    return;
  }
  const { causes, documents_partly_read: partlyRead } = job;
  if (isQuiet && causes.length === 0) return;
  terminal.print(endLine(terminal, job));
  if (partlyRead > 0) terminal.print(partlyReadLine(partlyRead, job.corpus_name));
  if (causes.length === 0) return;
  terminal.print();
  printTable(
    terminal,
    ['CAUSE', '>FAILED', 'WHAT TO DO'],
    causes.map(({ cause, count: failed, advice }) => [
      terminal.paint('red', cause),
      number(failed),
      advice,
    ]),
  );
  terminal.print();
  terminal.print(`${terminal.paint('dim', 'details')}    pawl inbox`);
  terminal.print(
    `${terminal.paint('dim', 'try again')}  pawl jobs retry ${job.job_id.slice(0, 8)}`,
  );
}

function partlyReadLine(documents: number, corpus: string): string {
  const were = documents === 1 ? 'was' : 'were';
  const how = `pawl corpora documents ${corpus} --partly-read`;
  return `${count(documents, 'document')} ${were} only partly read: \`${how}\` lists them`;
}

function endLine(terminal: Terminal, job: JobDetail): string {
  const { items_total: total, items_done: done, items_unchanged: unchanged } = job;
  const { items_failed: failed, items_canceled: canceled } = job;
  if (done === total && unchanged >= total) {
    const mark = terminal.paint('green', '✓');
    return `${mark} ${count(total, 'document')} unchanged: nothing to do`;
  }
  const parts = [
    `${count(Math.max(done - unchanged, 0), 'document')} indexed`,
    ...(unchanged > 0 ? [`${number(unchanged)} unchanged`] : []),
    ...(failed > 0 ? [terminal.paint('red', `${number(failed)} failed`)] : []),
    ...(canceled > 0 ? [`${number(canceled)} canceled`] : []),
    count(job.chunks_indexed, 'chunk'),
    ...costPairs(job).map(([name, text]) => (name === 'saved' ? `saved ${text}` : text)),
    duration(Date.parse(job.ended_at ?? job.created_at) - Date.parse(job.created_at)),
  ];
  const isOk = failed === 0 && canceled === 0;
  const mark = isOk ? terminal.paint('green', '✓') : terminal.paint('yellow', '!');
  return `${mark} ${parts.join(terminal.paint('dim', ' · '))}`;
}

function fail({ log }: Call, error: unknown): void {
  log.error('progress', error);
}
