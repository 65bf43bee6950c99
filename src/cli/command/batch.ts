/** `pawl batch`: batch tasks at outside providers, and their progress. */
import { readFileSync } from 'node:fs';
import type { BatchTask } from '../../contract/operation/batch.ts';
import { type BatchTaskState, batchTask } from '../../kernel/lifecycle/batch-task.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { ProviderState } from '../../kernel/provider-state.ts';
import { chooseAction, onlyArgument } from '../action.ts';
import { withBatch } from '../batch-client.ts';
import {
  answer,
  type Call,
  type Command,
  exits,
  numberOf,
  textOf,
  usageError,
} from '../command.ts';
import { printPairs, printTable } from '../view/table.ts';
import type { Style, Terminal } from '../view/terminal.ts';
import { ago, agoExactly, number, printable } from '../view/wording.ts';

export const batch: Command = {
  name: 'batch',
  summary: 'batch tasks at outside providers: submit, list, show, output, cancel',
  usage: [
    'batch submit FILE',
    'batch [list] [--state STATE] [--limit N]',
    'batch show|output|cancel ID',
  ],
  options: {
    state: {
      type: 'string',
      short: 's',
      value: 'STATE',
      choices: batchTask.states,
      meaning: `one of ${batchTask.states.join(', ')}`,
    },
    limit: { type: 'string', short: 'n', value: 'N', meaning: 'maximum number of tasks' },
  },
  examples: [
    'pawl batch submit recordings.json',
    'pawl batch show 3f2a9c1e --json',
    'pawl batch output 3f2a9c1e > results.json',
  ],
  run: chooseAction('batch', { list, submit, show, output, cancel }),
};

async function submit(call: Call, args: readonly string[]): Promise<number> {
  const path = onlyArgument(args, 'file');
  const body = readTask(path);
  return withBatch(call, { makesStore: true }, async (client) => {
    const task = await client.submit(body);
    const sentence = `accepted batch task ${task.task_id}; a running Pawl sends it to its provider`;
    return answer(call, task, sentence);
  });
}

function readTask(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw usageError(`cannot read ${path}: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${path} is not JSON: ${(error as Error).message}`);
  }
}

async function list(call: Call): Promise<number> {
  const { terminal, flags } = call;
  const state = textOf(flags, 'state') as BatchTaskState | undefined;
  const limit = numberOf(flags, 'limit', { min: 1, max: limits.request.pageItemsMax });
  return withBatch(call, { makesStore: false }, async (client) => {
    const page = await client.list({ state, limit });
    const none = page.items.length === 0 && 'no batch tasks';
    return answer(call, page, none || (() => printTasks(terminal, page.items)));
  });
}

function printTasks(terminal: Terminal, tasks: readonly BatchTask[]): void {
  printTable(
    terminal,
    ['TASK', 'TYPE', 'PROVIDER', 'STATE', '>OK', '>FAILED', 'SUBMITTED'],
    tasks.map((task) => [
      task.task_id.slice(0, 8),
      printable(task.task_type),
      printable(task.provider ?? ''),
      terminal.paint(styles[task.state] ?? 'reset', task.state),
      number(task.results_ok),
      number(task.results_failed),
      ago(task.created_at),
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
  return withBatch(call, { makesStore: false }, async (client) => {
    const task = await client.show(id);
    return answer(call, task, () => printTask(call.terminal, task));
  });
}

function printTask(terminal: Terminal, task: BatchTask): void {
  const { jobs = [] } = (task.provider_state ?? {}) as Partial<ProviderState>;
  const { error, invalid_urls: invalid } = task;
  const type = `${task.task_type}${task.provider === null ? '' : ` at ${task.provider}`}`;
  printPairs(terminal, [
    ['task', task.task_id],
    ['type', printable(type)],
    ['state', terminal.paint(styles[task.state] ?? 'reset', task.state)],
    ['results', `${number(task.results_ok)} ok, ${number(task.results_failed)} failed`],
    ['submitted', agoExactly(task.created_at)],
    ...jobs.map((job, index) => {
      const model = job.model === undefined ? '' : `${job.model}: `;
      const text = `${model}${job.status} ${job.external_job_id} ${job.error ?? ''}`.trim();
      return [index === 0 ? 'jobs' : '', printable(text)] as const;
    }),
    ...invalid.map((url, index) => [index === 0 ? 'invalid' : '', printable(url)] as const),
    ...(task.output === null ? [] : [['output', task.output] as const]),
    ...(task.waiting === null ? [] : [['waiting', printable(task.waiting)] as const]),
    ...(error ? [['error', printable(`${error.code}: ${error.message}`)] as const] : []),
    ['actions', task.actions.join(', ') || 'none'],
  ]);
}

async function output(call: Call, args: readonly string[]): Promise<number> {
  const id = onlyArgument(args, 'task');
  return withBatch(call, { makesStore: false }, async (client) => {
    for await (const piece of await client.output(id)) await call.terminal.write(piece);
    return exits.well;
  });
}

async function cancel(call: Call, args: readonly string[]): Promise<number> {
  const id = onlyArgument(args, 'task');
  return withBatch(call, { makesStore: false }, async (client) => {
    const task = await client.cancel(id);
    const sentence = `canceled batch task ${task.task_id}; a running Pawl notifies the provider`;
    return answer(call, task, sentence);
  });
}
