/** `pawl jobs`: submitted jobs, their progress, and the actions on them. */
import type { Event, JobSummary } from '../../index.ts';
import {
  type JobState,
  jobActions,
  job as jobMachine,
  jobState,
} from '../../kernel/lifecycle/job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { failureOf } from '../../service/view/serializer.ts';
import { chooseAction, onlyArgument } from '../action.ts';
import {
  answer,
  type Call,
  type Command,
  centsOf,
  exits,
  numberOf,
  textOf,
  usageError,
  withStore,
} from '../command.ts';
import type { JobClient, PawlClient } from '../pawl-client.ts';
import { costLine, costOfJob, savedLine } from '../view/cost.ts';
import { follow, workOrLeave, workOrWatch } from '../view/follow.ts';
import { eventShape, jobShape } from '../view/json.ts';
import { printPairs, printTable } from '../view/table.ts';
import type { Style, Terminal } from '../view/terminal.ts';
import { ago, count, duration, exactTime, money, number, printable } from '../view/wording.ts';

export const jobs: Command = {
  name: 'jobs',
  summary: 'submitted jobs: list, show, events, watch, pause, resume, cancel, retry',
  usage: [
    'jobs [list] [--corpus NAME] [--state STATE] [--limit N]',
    'jobs show|events|watch|pause|resume|cancel|retry ID',
    'jobs resume ID [--budget-cents N]',
  ],
  options: {
    corpus: { type: 'string', value: 'NAME', meaning: 'only jobs of this corpus' },
    state: { type: 'string', value: 'STATE', meaning: `one of ${jobMachine.states.join(', ')}` },
    limit: { type: 'string', value: 'N', meaning: 'maximum number of jobs or events' },
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
  const { terminal, flags } = call;
  const corpus = textOf(flags, 'corpus');
  const state = readState(textOf(flags, 'state'));
  const limit = numberOf(flags, 'limit', { min: 1, max: limits.request.pageItemsMax });
  return withStore(call, async (pawl) => {
    const rows = await pawl.jobs({
      ...(corpus !== undefined && { corpus }),
      ...(state !== undefined && { state }),
      ...(limit !== undefined && { limit }),
    });
    const none = rows.length === 0 && 'no jobs';
    const page = { items: rows.map(jobShape), next_cursor: null };
    return answer(call, page, none || (() => printJobs(terminal, rows)));
  });
}

function readState(text: string | undefined): JobState | undefined {
  const state = jobMachine.states.find((candidate) => candidate === text);
  if (text === undefined || state) return state;
  throw usageError(`--state must be one of ${jobMachine.states.join(', ')}, not ${text}`);
}

function printJobs(terminal: Terminal, rows: readonly JobSummary[]): void {
  const now = Date.now();
  printTable(
    terminal,
    ['JOB', 'CORPUS', 'STATE', '>DONE', '>FAILED', '>ALL', '>CHUNKS', 'SUBMITTED', 'TOOK'],
    rows.map((job) => [
      job.id.slice(0, 8),
      job.corpus,
      paintState(terminal, job),
      number(job.items.done),
      job.items.failed > 0 ? terminal.paint('red', number(job.items.failed)) : '0',
      number(job.items.total),
      number(job.chunks),
      ago(job.createdAt, now),
      job.endedAt === null ? '' : duration(job.endedAt - job.createdAt),
    ]),
  );
}

const styles: Partial<Record<JobState, Style>> = {
  succeeded: 'green',
  failed: 'red',
  canceled: 'dim',
  paused: 'yellow',
  retry_pending: 'yellow',
  running: 'cyan',
};

function paintState(terminal: Terminal, { state, partial }: JobSummary): string {
  const text = state === jobState.succeeded && partial ? 'partly succeeded' : state;
  return terminal.paint(partial ? 'yellow' : (styles[state] ?? 'reset'), text);
}

async function show({ terminal, isJson }: Call, job: JobClient): Promise<number> {
  const summary = await job.summary();
  if (isJson) {
    terminal.print(JSON.stringify(jobShape(summary)));
    return exits.well;
  }
  const { items, createdAt, endedAt } = summary;
  const causes = items.failed > 0 ? await job.causes() : [];
  const unchanged = await job.unchanged();
  const documents = [
    `${number(items.done)} of ${number(items.total)} done`,
    ...(unchanged > 0 ? [`${number(unchanged)} of them unchanged`] : []),
    ...(items.failed > 0 ? [terminal.paint('red', `${number(items.failed)} failed`)] : []),
    ...(items.canceled > 0 ? [`${number(items.canceled)} canceled`] : []),
    ...(items.waiting > 0 ? [`${number(items.waiting)} waiting to retry`] : []),
  ];
  printPairs(terminal, [
    ['job', summary.id],
    ['corpus', summary.corpus],
    ['state', `${paintState(terminal, summary)}${endedAt ? '' : ` (${summary.status})`}`],
    ...(summary.state === jobState.failed ? [['message', summary.message] as const] : []),
    ['documents', documents.join(', ')],
    ['chunks', number(summary.chunks)],
    ...costPairs(summary),
    ['submitted', `${ago(createdAt, Date.now())} (${exactTime(createdAt)})`],
    ...(endedAt === null ? [] : [['took', duration(endedAt - createdAt)] as const]),
    ...causes.map(({ code, count: failed }, index) => {
      const text = `${code} × ${number(failed)}: ${failureOf(code).advice}`;
      return [index === 0 ? 'causes' : '', text] as const;
    }),
    ['actions', jobActions(summary.state, items).join(', ') || 'none'],
  ]);
  return exits.well;
}

function costPairs(summary: JobSummary): (readonly [string, string])[] {
  const cost = costOfJob(summary);
  const { budgetCents, pauseReason } = summary;
  return [
    ...(cost.tokens > 0 ? [['cost', costLine(cost)] as const] : []),
    ...(cost.saved.tokens > 0 ? [['saved', savedLine(cost)] as const] : []),
    ...(budgetCents === null ? [] : [['budget', money(budgetCents)] as const]),
    ...(pauseReason === null ? [] : [['paused because', pauseReason] as const]),
  ];
}

async function printEvents(call: Call, job: JobClient, pawl: PawlClient): Promise<number> {
  const { terminal, flags, isJson } = call;
  const newest = await pawl.newestEvent();
  const after = numberOf(flags, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
  let left = numberOf(flags, 'limit', { min: 1, max: limits.event.shownMax });
  if (left === undefined) left = Number.POSITIVE_INFINITY;
  for await (const event of job.history({ after, until: newest })) {
    if (left <= 0 || call.interrupt.aborted) break;
    left -= 1;
    terminal.print(isJson ? JSON.stringify(eventShape(event, job.id)) : eventLine(terminal, event));
  }
  return exits.well;
}

function eventLine(terminal: Terminal, event: Event): string {
  const { seq, at, kind, itemId, step, detail = {} } = event;
  const time = new Date(at).toISOString().slice(11, 23);
  const place = [itemId ? `#${itemId}` : '', step ?? ''].join(' ').trim();
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
  const isOpen = (await job.summary()).endedAt === null;
  return isOpen ? workOrWatch(call, pawl, job, { after }) : follow(call, job, { after });
}

async function pause(call: Call, job: JobClient): Promise<number> {
  await job.pause();
  return tell(call, job, `paused; resume with: pawl jobs resume ${job.id.slice(0, 8)}`);
}

async function cancel(call: Call, job: JobClient): Promise<number> {
  const { itemsCanceled, itemsDone, itemsFailed } = await job.cancel();
  const kept = `${count(itemsDone, 'document')} stay indexed`;
  const failed = itemsFailed > 0 ? `, ${number(itemsFailed)} had already failed` : '';
  return tell(call, job, `canceled ${count(itemsCanceled, 'document')}; ${kept}${failed}`);
}

async function resume(call: Call, job: JobClient, pawl: PawlClient): Promise<number> {
  const after = await pawl.newestEvent();
  await job.resume({ budgetCents: centsOf(call.flags, 'budget-cents') });
  if (!call.isJson) call.terminal.print('resumed');
  return workOrLeave(call, pawl, job, { after });
}

async function retry(call: Call, job: JobClient, pawl: PawlClient): Promise<number> {
  const after = await pawl.newestEvent();
  const retried = await job.retry();
  if (!call.isJson) call.terminal.print(`retrying ${count(retried, 'document')}`);
  return workOrLeave(call, pawl, job, { after });
}

async function tell(call: Call, job: JobClient, sentence: string): Promise<number> {
  return answer(call, call.isJson && jobShape(await job.summary()), sentence);
}
