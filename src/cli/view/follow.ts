/** Follows a job to its end, then prints the result and the next steps for failed documents. */
import type { JobCounts, JobSummary } from '../../index.ts';
import { job as jobMachine, jobState } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { jobCauseShape as causeShape, failureOf } from '../../service/view/serializer.ts';
import { type Call, exits } from '../command.ts';
import type { JobClient, PawlClient } from '../pawl-client.ts';
import { type Cost, costLine, costOfJob, savedLine } from './cost.ts';
import { jobShape } from './json.ts';
import { Progress } from './progress.ts';
import { openView } from './progress-view.ts';
import { printTable } from './table.ts';
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
      if (event.kind === 'job_paused' && (await job.counts()).pauseReason !== null) break;
    }
  } finally {
    clearInterval(timer);
  }
  progress.recount(await job.counts(), Date.now());
  const { state } = progress.counts;
  if (isFinal(jobMachine, state)) view.show(progress);
  view.end(progress);
  if (state === jobState.paused && progress.counts.pauseReason !== null) {
    return tellPaused(call, await job.summary());
  }
  if (!isFinal(jobMachine, state)) return exits.interrupted;
  await printEnd(call, job, await job.summary());
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
  if (call.isJson) call.terminal.print(JSON.stringify(jobShape(await job.summary())));
  else call.terminal.print('a running Pawl process continues this job');
  return exits.well;
}

const pauseSentences: Readonly<Record<string, string>> = {
  budget_reached: 'this job has reached its budget',
  corpus_budget_reached: 'the corpus has reached its budget',
  quota_exhausted: 'the provider account has no credit left',
};

/** The job waits for more budget or credit. Paid results are kept. */
function tellPaused({ terminal, isJson }: Call, summary: JobSummary): number {
  if (isJson) {
    terminal.print(JSON.stringify(jobShape(summary)));
    return exits.error;
  }
  const { pauseReason, items, budgetCents } = summary;
  const why = pauseSentences[pauseReason ?? ''] ?? pauseReason;
  const done = `${number(items.done)} of ${count(items.total, 'document')} done`;
  const of = budgetCents === null ? '' : ` of ${money(budgetCents)}`;
  terminal.print(`paused: ${why}; ${done}, ${costLine(costOfJob(summary))}${of}`);
  const more = pauseReason === 'budget_reached' ? ' --budget-cents N' : '';
  const how = `pawl jobs resume ${summary.id.slice(0, 8)}${more}`;
  terminal.print(`${terminal.paint('dim', 'resume with')}  ${how}`);
  return exits.error;
}

function exitOf({ state, items }: JobCounts): number {
  if (state === jobState.canceled) return exits.error;
  return items.failed > 0 ? exits.someFailed : exits.well;
}

async function printEnd(call: Call, job: JobClient, summary: JobSummary): Promise<void> {
  const { terminal } = call;
  const unchanged = await job.unchanged();
  const partlyRead = await job.partlyRead();
  const causes = summary.items.failed > 0 ? await job.causes() : [];
  if (call.isJson) {
    const counts = { items_unchanged: unchanged, documents_partly_read: partlyRead };
    const shape = { ...jobShape(summary), ...counts };
    terminal.print(JSON.stringify({ ...shape, causes: causes.map(causeShape) }));
    return;
  }
  terminal.print(endLine(call, summary, unchanged));
  if (partlyRead > 0) terminal.print(partlyReadLine(partlyRead, summary.corpus));
  if (causes.length === 0) return;
  terminal.print();
  printTable(
    terminal,
    ['CAUSE', '>FAILED', 'WHAT TO DO'],
    causes.map(({ code, count: failed }) => [
      terminal.paint('red', code),
      number(failed),
      failureOf(code).advice,
    ]),
  );
  terminal.print();
  terminal.print(`${terminal.paint('dim', 'details')}    pawl inbox`);
  terminal.print(
    `${terminal.paint('dim', 'try again')}  pawl jobs retry ${summary.id.slice(0, 8)}`,
  );
}

function partlyReadLine(documents: number, corpus: string): string {
  const were = documents === 1 ? 'was' : 'were';
  const how = `pawl corpora documents ${corpus} --partly-read`;
  return `${count(documents, 'document')} ${were} only partly read: \`${how}\` lists them`;
}

function endLine({ terminal }: Call, summary: JobSummary, unchanged: number): string {
  const { total, done, failed, canceled } = summary.items;
  const span = (summary.endedAt ?? summary.createdAt) - summary.createdAt;
  if (done === total && unchanged >= total) {
    const mark = terminal.paint('green', '✓');
    return `${mark} ${count(total, 'document')} unchanged: nothing to do`;
  }
  const parts = [
    `${count(Math.max(done - unchanged, 0), 'document')} indexed`,
    ...(unchanged > 0 ? [`${number(unchanged)} unchanged`] : []),
    ...(failed > 0 ? [terminal.paint('red', `${number(failed)} failed`)] : []),
    ...(canceled > 0 ? [`${number(canceled)} canceled`] : []),
    count(summary.chunks, 'chunk'),
    ...costParts(costOfJob(summary)),
    duration(span),
  ];
  const isOk = failed === 0 && canceled === 0;
  const mark = isOk ? terminal.paint('green', '✓') : terminal.paint('yellow', '!');
  return `${mark} ${parts.join(terminal.paint('dim', ' · '))}`;
}

function costParts(cost: Cost): string[] {
  return [
    ...(cost.tokens > 0 ? [costLine(cost)] : []),
    ...(cost.saved.tokens > 0 ? [`saved ${savedLine(cost)}`] : []),
  ];
}

function fail({ log }: Call, error: unknown): void {
  log.error('progress', error);
}
