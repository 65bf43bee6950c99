/** `pawl jobs`: submitted jobs, their progress, and the actions on them. */
import type { Event, Job } from '../../contract/schema/schema.ts';
import { type JobState, job as jobMachine, jobState } from '../../kernel/lifecycle/job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { chooseAction, onlyArgument } from '../action.ts';
import {
  answer,
  type Call,
  type Command,
  centsOf,
  exits,
  numberOf,
  textOf,
  withStore,
} from '../command.ts';
import type { JobClient, PawlClient } from '../pawl-client.ts';
import { costPairs } from '../view/cost.ts';
import { follow, workOrLeave, workOrWatch } from '../view/follow.ts';
import { printPairs, printTable } from '../view/table.ts';
import type { Style, Terminal } from '../view/terminal.ts';
import { ago, agoExactly, count, duration, money, number, printable } from '../view/wording.ts';

export const jobs: Command = {
  name: 'jobs',
  summary: 'submitted jobs: list, show, events, watch, pause, resume, cancel, retry',
  usage: [
    'jobs [list] [--corpus NAME] [--state STATE] [--limit N]',
    'jobs show|events|watch|pause|resume|cancel|retry ID',
    'jobs resume ID [--budget-cents N]',
  ],
  options: {
    corpus: { type: 'string', short: 'c', value: 'NAME', meaning: 'only jobs of this corpus' },
    state: {
      type: 'string',
      short: 's',
      value: 'STATE',
      choices: jobMachine.states,
      meaning: `one of ${jobMachine.states.join(', ')}`,
    },
    limit: { type: 'string', short: 'n', value: 'N', meaning: 'maximum number of jobs or events' },
    after: { type: 'string', value: 'SEQ', meaning: 'only events after this sequence number' },
    'budget-cents': { type: 'string', value: 'N', meaning: 'new budget of the job' },
  },
  examples: [
    'pawl jobs --state failed',
    'pawl jobs watch 3f2a9c1e',
    'pawl jobs events 3f2a --json',
  ],
  run: chooseAction('jobs', {
    list,
    show: (call, args) => withJob(call, args, show),
    events: (call, args) => withJob(call, args, printEvents),
    watch: (call, args) => withJob(call, args, watch),
    pause: (call, args) => withJob(call, args, pause),
    resume: (call, args) => withJob(call, args, resume),
    cancel: (call, args) => withJob(call, args, cancel),
    retry: (call, args) => withJob(call, args, retry),
  }),
};

function withJob(
  call: Call,
  args: readonly string[],
  use: (call: Call, job: JobClient, pawl: PawlClient) => Promise<number>,
): Promise<number> {
  const id = onlyArgument(args, 'job');
  return withStore(call, async (pawl) => use(call, await pawl.job(id), pawl));
}

async function list(call: Call): Promise<number> {
  const { flags } = call;
  const corpus = textOf(flags, 'corpus');
  const state = textOf(flags, 'state') as JobState | undefined;
  const limit = numberOf(flags, 'limit', { min: 1, max: limits.request.pageItemsMax });
  return withStore(call, async (pawl) => {
    const page = await pawl.ask('GET /jobs', { query: { corpus_name: corpus, state, limit } });
    const isOpen = page.items.some(needsWork);
    const isIdle = isOpen && !call.isJson && !(await pawl.isWorkedOn());
    const none = page.items.length === 0 && 'no jobs';
    return answer(call, page, none || (() => printJobs(call, page.items, { isIdle })));
  });
}

/** Unfinished, and not paused. */
function needsWork({ state, ended_at: endedAt }: Job): boolean {
  return endedAt === null && state !== jobState.paused;
}

const noWorker = 'no worker';

/** `isIdle`: no process works on this store. */
function printJobs(
  { terminal }: Call,
  rows: readonly Job[],
  { isIdle }: { readonly isIdle: boolean },
): void {
  printTable(
    terminal,
    ['JOB', 'CORPUS', 'STATE', '>DONE', '>FAILED', '>ALL', '>CHUNKS', 'SUBMITTED', 'TOOK'],
    rows.map((job) => [
      job.job_id.slice(0, 8),
      job.corpus_name,
      `${paintState(terminal, job)}${isIdle && needsWork(job) ? ` (${noWorker})` : ''}`,
      number(job.items_done),
      job.items_failed > 0 ? terminal.paint('red', number(job.items_failed)) : '0',
      number(job.items_total),
      number(job.chunks_indexed),
      ago(job.created_at),
      tookOf(job),
    ]),
  );
  if (isIdle) terminal.tell(idleLine(rows.find(needsWork)));
}

function idleLine(job: Job | undefined): string {
  const watch = `\`pawl jobs watch ${job?.job_id.slice(0, 8)}\``;
  return `no process works on this store: ${watch} or \`pawl serve\` continues unfinished jobs`;
}

function tookOf({ created_at, ended_at }: Job): string {
  return ended_at === null ? '' : duration(Date.parse(ended_at) - Date.parse(created_at));
}

const styles: Partial<Record<JobState, Style>> = {
  succeeded: 'green',
  failed: 'red',
  canceled: 'dim',
  paused: 'yellow',
  retry_pending: 'yellow',
  running: 'cyan',
};

function paintState(terminal: Terminal, { state, partial }: Job): string {
  const text = state === jobState.succeeded && partial ? 'partly succeeded' : state;
  return terminal.paint(partial ? 'yellow' : (styles[state] ?? 'reset'), text);
}

async function show(call: Call, client: JobClient, pawl: PawlClient): Promise<number> {
  const { terminal } = call;
  const job = await client.detail();
  const isIdle = needsWork(job) && !(await pawl.isWorkedOn());
  const documents = [
    `${number(job.items_done)} of ${number(job.items_total)} done`,
    ...(job.items_unchanged > 0 ? [`${number(job.items_unchanged)} of them unchanged`] : []),
    ...(job.items_failed > 0 ? [terminal.paint('red', `${number(job.items_failed)} failed`)] : []),
    ...(job.items_canceled > 0 ? [`${number(job.items_canceled)} canceled`] : []),
    ...(job.items_waiting > 0 ? [`${number(job.items_waiting)} waiting to retry`] : []),
  ];
  const { budget_cents: budget, pause_reason: paused, ended_at: endedAt } = job;
  const pairs: (readonly [string, string])[] = [
    ['job', job.job_id],
    ['corpus', job.corpus_name],
    ['state', `${paintState(terminal, job)}${endedAt ? '' : ` (${job.status})`}`],
    ...(isIdle ? [['worker', idleLine(job)] as const] : []),
    ...(job.state === jobState.failed ? [['message', job.message] as const] : []),
    ['documents', documents.join(', ')],
    ['chunks', number(job.chunks_indexed)],
    ...costPairs(job),
    ...(budget === null ? [] : [['budget', money(budget)] as const]),
    ...(paused === null ? [] : [['paused because', paused] as const]),
    ['submitted', agoExactly(job.created_at)],
    ...(endedAt === null ? [] : [['took', tookOf(job)] as const]),
    ...job.causes.map(({ cause, count: failed, advice }, index) => {
      const text = `${cause} × ${number(failed)}: ${advice}`;
      return [index === 0 ? 'causes' : '', text] as const;
    }),
    ['actions', job.actions.join(', ') || 'none'],
  ];
  return answer(call, job, () => printPairs(terminal, pairs));
}

async function* historyOf(
  { ask }: PawlClient,
  { id }: JobClient,
  { after, until }: { readonly after: number; readonly until: number },
): AsyncGenerator<Event> {
  for (let from = after, hasMore = true; hasMore && from < until; ) {
    const asking = { params: { id }, query: { after: from } };
    const page = await ask('GET /jobs/:id/events', asking);
    yield* page.items.filter(({ seq }) => seq <= until);
    from = page.last_seq;
    hasMore = page.has_more;
  }
}

async function printEvents(call: Call, job: JobClient, pawl: PawlClient): Promise<number> {
  const { terminal, flags, isJson } = call;
  const newest = await pawl.newestEvent();
  const after = numberOf(flags, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
  let left = numberOf(flags, 'limit', { min: 1, max: limits.event.shownMax });
  if (left === undefined) left = Number.POSITIVE_INFINITY;
  for await (const event of historyOf(pawl, job, { after, until: newest })) {
    if (left <= 0 || call.interrupt.aborted) break;
    left -= 1;
    terminal.print(isJson ? JSON.stringify(event) : eventLine(terminal, event));
  }
  return exits.well;
}

function eventLine(terminal: Terminal, event: Event): string {
  const { seq, at, kind, item_id, step, detail } = event;
  const time = at.slice(11, 23);
  const place = [item_id ? `#${item_id}` : '', step ?? ''].join(' ').trim();
  const details = Object.entries(detail).map(([name, value]) => `${name}=${plain(value)}`);
  const head = `${String(seq).padStart(7)}  ${time}`;
  const text = `${kind.padEnd(18)}  ${place.padEnd(24)}  ${details.join(' ')}`.trimEnd();
  return `${terminal.paint('dim', head)}  ${text}`;
}

function plain(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

async function watch(call: Call, job: JobClient, pawl: PawlClient): Promise<number> {
  const after = await pawl.newestEvent();
  const isOpen = (await job.detail()).ended_at === null;
  return isOpen ? workOrWatch(call, pawl, job, { after }) : follow(call, job, { after });
}

async function pause(call: Call, job: JobClient, { ask }: PawlClient): Promise<number> {
  const moved = await ask('POST /jobs/:id/pause', { params: { id: job.id } });
  return answer(call, moved, `paused; resume with: pawl jobs resume ${job.id.slice(0, 8)}`);
}

async function cancel(call: Call, job: JobClient, { ask }: PawlClient): Promise<number> {
  const receipt = await ask('POST /jobs/:id/cancel', { params: { id: job.id } });
  const { items_failed } = await job.counts();
  const kept = `${count(receipt.kept.items, 'document')} stay indexed`;
  const failed = items_failed > 0 ? `, ${number(items_failed)} had already failed` : '';
  const stopped = count(receipt.stopped.items, 'document');
  return answer(call, receipt, `canceled ${stopped}; ${kept}${failed}`);
}

async function resume(call: Call, job: JobClient, pawl: PawlClient): Promise<number> {
  const after = await pawl.newestEvent();
  const body = { budget_cents: centsOf(call.flags, 'budget-cents') };
  await pawl.ask('POST /jobs/:id/resume', { params: { id: job.id }, body });
  if (!call.isJson) call.terminal.print('resumed');
  return workOrLeave(call, pawl, job, { after });
}

async function retry(call: Call, job: JobClient, pawl: PawlClient): Promise<number> {
  const after = await pawl.newestEvent();
  const { items_retried: retried = 0 } = await pawl.ask('POST /jobs/:id/retry', {
    params: { id: job.id },
  });
  if (!call.isJson) call.terminal.print(`retrying ${count(retried, 'document')}`);
  return workOrLeave(call, pawl, job, { after });
}
