/** `pawl batch`: work that an outside provider does for hours, and how far it is. */
import { readFileSync } from 'node:fs';
import { batchTaskShape } from '../batch-shape.ts';
import type { BatchTaskRow } from '../index.ts';
import { type BatchTaskState, batchTask } from '../kernel/batch-task.ts';
import { limits } from '../kernel/limits.ts';
import { allowedActions } from '../kernel/machine.ts';
import type { ProviderState } from '../kernel/provider-state.ts';
import { chooseAction, onlyArgument } from './action.ts';
import {
  type Call,
  type Command,
  exits,
  numberOf,
  textOf,
  usageError,
  withOwnStore,
  withPawl,
} from './command.ts';
import { printPairs, printTable } from './table.ts';
import type { Style, Terminal } from './terminal.ts';
import { ago, exactTime, number, printable } from './wording.ts';

export const batch: Command = {
  name: 'batch',
  summary: 'work that providers do for hours: submit, list, show, cancel',
  usage: ['batch submit FILE', 'batch [list] [--state STATE] [--limit N]', 'batch show|cancel ID'],
  options: {
    state: { type: 'string', value: 'STATE', meaning: `one of ${batchTask.states.join(', ')}` },
    limit: { type: 'string', value: 'N', meaning: 'how many tasks at most' },
  },
  examples: ['pawl batch submit recordings.json', 'pawl batch show 3f2a9c1e --json'],
  run: chooseAction('batch', { list, submit, show, cancel }),
};

async function submit(call: Call, args: readonly string[]): Promise<number> {
  const path = onlyArgument(args, 'file');
  const body = readTask(path);
  return withPawl(call, { work: false }, async (pawl) => {
    const id = await pawl.submitBatchTask(body);
    const task = await pawl.batchTask(id);
    const sentence = `accepted batch task ${id}; a running Pawl hands it to its provider`;
    call.terminal.print(call.isJson ? JSON.stringify(batchTaskShape(task)) : sentence);
    return exits.well;
  });
}

function readTask(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw usageError(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${path} is not JSON: ${(error as Error).message}`);
  }
}

async function list(call: Call): Promise<number> {
  const { terminal, flags } = call;
  const state = readState(textOf(flags, 'state'));
  const limit = numberOf(flags, 'limit', { min: 1, max: limits.request.pageItemsMax });
  return withOwnStore(call, async (pawl) => {
    const rows = await pawl.batchTasks({
      ...(state !== undefined && { state }),
      ...(limit !== undefined && { limit }),
    });
    if (call.isJson) {
      terminal.print(JSON.stringify({ items: rows.map(batchTaskShape), next_cursor: null }));
    } else if (rows.length === 0) {
      terminal.print('no batch tasks');
    } else {
      printTasks(terminal, rows);
    }
    return exits.well;
  });
}

function readState(text: string | undefined): BatchTaskState | undefined {
  const state = batchTask.states.find((candidate) => candidate === text);
  if (text === undefined || state) return state;
  throw usageError(`--state must be one of ${batchTask.states.join(', ')}, not ${text}`);
}

function printTasks(terminal: Terminal, rows: readonly BatchTaskRow[]): void {
  const now = Date.now();
  printTable(
    terminal,
    [
      { title: 'TASK' },
      { title: 'TYPE' },
      { title: 'PROVIDER' },
      { title: 'STATE' },
      { title: 'OK', align: 'right' },
      { title: 'FAILED', align: 'right' },
      { title: 'SUBMITTED' },
    ],
    rows.map((row) => [
      row.key.slice(0, 8),
      row.task_type,
      row.provider ?? '',
      terminal.paint(styles[row.state] ?? 'reset', row.state),
      number(row.results_ok),
      number(row.results_failed),
      ago(row.created_at, now),
    ]),
  );
}

const styles: Partial<Record<BatchTaskState, Style>> = {
  completed: 'green',
  partial_complete: 'yellow',
  failed: 'red',
  canceled: 'dim',
  in_progress: 'cyan',
};

async function show(call: Call, args: readonly string[]): Promise<number> {
  const id = onlyArgument(args, 'task');
  return withOwnStore(call, async (pawl) => {
    const row = await pawl.batchTask(id);
    if (call.isJson) call.terminal.print(JSON.stringify(batchTaskShape(row)));
    else printTask(call.terminal, row);
    return exits.well;
  });
}

function printTask(terminal: Terminal, row: BatchTaskRow): void {
  const state = row.provider_state === null ? undefined : JSON.parse(row.provider_state);
  const { jobs = [], invalid_urls: invalid = [] } = (state ?? {}) as Partial<ProviderState>;
  const error = row.error === null ? undefined : JSON.parse(row.error);
  printPairs(terminal, [
    ['task', row.key],
    ['type', `${row.task_type}${row.provider === null ? '' : ` at ${row.provider}`}`],
    ['state', terminal.paint(styles[row.state] ?? 'reset', row.state)],
    ['results', `${number(row.results_ok)} ok, ${number(row.results_failed)} failed`],
    ['submitted', `${ago(row.created_at, Date.now())} (${exactTime(row.created_at)})`],
    ...jobs.map((job, index) => {
      const model = job.model === undefined ? '' : `${job.model}: `;
      const text = `${model}${job.status} ${job.external_job_id} ${job.error ?? ''}`.trim();
      return [index === 0 ? 'jobs' : '', printable(text)] as const;
    }),
    ...invalid.map((url, index) => [index === 0 ? 'invalid' : '', printable(url)] as const),
    ...(row.output_key === null ? [] : [['output', `blob:${row.output_key}`] as const]),
    ...(error ? [['error', printable(`${error.code}: ${error.message}`)] as const] : []),
    ['you can', allowedActions(batchTask, row.state).join(', ') || 'do nothing more'],
  ]);
}

async function cancel(call: Call, args: readonly string[]): Promise<number> {
  const id = onlyArgument(args, 'task');
  return withOwnStore(call, async (pawl) => {
    const { key } = await pawl.batchTask(id);
    await pawl.cancelBatchTask(key);
    const sentence = `canceled batch task ${key}; its provider is told when Pawl runs`;
    const shape = JSON.stringify(batchTaskShape(await pawl.batchTask(key)));
    call.terminal.print(call.isJson ? shape : sentence);
    return exits.well;
  });
}
