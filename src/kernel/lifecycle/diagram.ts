/** The lifecycles as people read them: Mermaid diagrams, and one page of tables. */
import { attempt } from './attempt.ts';
import { batchJob } from './batch-job.ts';
import { batchTask } from './batch-task.ts';
import { item, type Lifecycle } from './item.ts';
import { itemMoveNames, itemMoves, itemWait } from './item-wait.ts';
import { job } from './job.ts';
import { allowedActions, eventsOf, type Machine, targets } from './machine.ts';
import { stage } from './stage.ts';
import { syncRun } from './sync-run.ts';
import { syncSource } from './sync-source.ts';

export const machines = {
  item: item.machine,
  'item-wait': itemWait,
  job,
  stage,
  attempt,
  'batch-task': batchTask,
  'batch-job': batchJob,
  'sync-source': syncSource,
  'sync-run': syncRun,
} as const satisfies Record<string, Machine>;

export type MachineName = keyof typeof machines;

const sentences: Readonly<Record<MachineName, string>> = {
  item:
    'One document inside one job. The three branches run at the same time and may end in any ' +
    'order; a retry continues from the steps already reached.',
  'item-wait':
    'What an open item waits on, or how it ended. Each move names who makes it: see `itemMoves`.',
  job:
    'What a caller submitted. Its state follows from its items. A retry is offered where an item ' +
    'failed or was canceled.',
  stage: 'The status that people see. It is derived from the items and never stored by hand.',
  attempt:
    'The interactive ingestion of a caller, in memory only. It has no final state: the next ' +
    'start follows idle or complete.',
  'batch-task': 'Work handed to an outside provider for hours and polled by the reconciler.',
  'batch-job': 'One job at the provider, part of a batch task. Its third poll error is its last.',
  'sync-source': 'A place that a corpus follows. It is failing while it cannot be read.',
  'sync-run':
    'One comparison of a source with its corpus. Nothing is removed before the listing is ' +
    'complete, and many removals wait for a person.',
};

/** A machine as a Mermaid state diagram. The same table always gives the same text. */
export function mermaid(machine: Machine): string {
  const lines = machine === item.machine ? lifecycleLines(item) : machineLines(machine);
  return ['stateDiagram-v2', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function machineLines(machine: Machine): string[] {
  return [
    `[*] --> ${machine.initial}`,
    ...labeledArrows(
      machine.edges.flatMap(([event, from, to]) => from.map((state) => ({ state, event, to }))),
    ),
    ...machine.final.map((state) => `${state} --> [*]`),
  ];
}

interface Arrow {
  readonly state: string;
  readonly event: string;
  readonly to: string;
}

/** One arrow for each pair of states, however many events lead along it. */
function labeledArrows(arrows: readonly Arrow[]): string[] {
  const pairs = Map.groupBy(arrows, ({ state, to }) => `${state} --> ${to}`);
  return [...pairs].map(
    ([pair, along]) => `${pair} : ${[...new Set(along.map(({ event }) => event))].join(' / ')}`,
  );
}

/**
 * The item's machine has an edge for every order of its branches, which no one can read. Drawn from
 * the steps instead: a fork, a join, and one frame around all that may still fail or be canceled.
 */
function lifecycleLines({ steps, machine }: Lifecycle): string[] {
  const [last = machine.initial] = machine.final;
  const ending = steps.filter(({ step }) => step === last);
  const open = steps.filter(({ step }) => step !== last);
  const framed = (state: string): string => (machine.final.includes(state) ? state : frame);
  const steering = machine.edges
    .filter(([event]) => steps.every(({ step }) => step !== event))
    .flatMap(([event, from, to]) =>
      from.map((state) => ({ state: framed(state), event, to: framed(to) })),
    );
  return [
    `[*] --> ${frame}`,
    `state ${frame} {`,
    `  [*] --> ${machine.initial}`,
    ...stepLines(open, machine.initial).map((line) => `  ${line}`),
    ...ending.flatMap(({ after }) => after.map((step) => `  ${step} --> [*]`)),
    '}',
    `${frame} --> ${last}`,
    ...labeledArrows(steering),
    ...machine.final.map((state) => `${state} --> [*]`),
  ];
}

const frame = 'unfinished';

function stepLines(steps: Lifecycle['steps'], initial: string): string[] {
  const before = ({ after }: Lifecycle['steps'][number]): string =>
    after.length > 0 ? after.join(' & ') : initial;
  return [...Map.groupBy(steps, before)].flatMap(([key, followers]) => {
    const names = followers.map(({ step }) => step);
    const origins = key.split(' & ');
    const [origin = initial] = origins;
    const [name = origin] = names;
    if (origins.length > 1) return bar({ kind: 'join', name: `before_${name}`, origins, names });
    if (names.length > 1) return bar({ kind: 'fork', name: `after_${origin}`, origins, names });
    return [`${origin} --> ${name}`];
  });
}

interface Bar {
  readonly kind: 'fork' | 'join';
  readonly name: string;
  readonly origins: readonly string[];
  readonly names: readonly string[];
}

function bar({ kind, name, origins, names }: Bar): string[] {
  return [
    `state ${name} <<${kind}>>`,
    ...origins.map((origin) => `${origin} --> ${name}`),
    ...names.map((step) => `${name} --> ${step}`),
  ];
}

/** The text of `docs/generated/machines.md`. */
export function machinesPage(): string {
  const sections = Object.entries(sentences).map(([name, sentence]) =>
    machineSection(machines[name as MachineName], sentence),
  );
  return [
    '# Lifecycles',
    '',
    '<!-- Written from the tables in src/kernel/. Do not edit by hand. -->',
    '',
    'Each lifecycle is one table in `src/kernel/`. An empty cell means that the event is refused',
    'in that state, and changes nothing.',
    '',
    ...sections,
  ].join('\n');
}

function machineSection(machine: Machine, sentence: string): string {
  const events = eventsOf(machine);
  const final = machine.final.length > 0 ? codeList(machine.final, ', ') : 'none';
  return [
    `## ${machine.name}`,
    '',
    sentence,
    '',
    '```mermaid',
    `${mermaid(machine)}\`\`\``,
    '',
    ...table(
      ['state', ...events],
      machine.states.map((state) => [
        `\`${state}\``,
        ...events.map((event) => codeList(targets(machine, state, event), '<br>')),
      ]),
    ),
    '',
    `Final states: ${final}.`,
    '',
    ...(machine.name === itemWait.name ? [...movesTable(), ''] : []),
    ...table(
      ['state', 'a person may'],
      machine.states.map((state) => [`\`${state}\``, allowedActions(machine, state).join(', ')]),
    ),
    '',
  ].join('\n');
}

/** The moves of items, each with its mover. A raised epoch fences off the holder from before. */
function movesTable(): string[] {
  const rows = itemMoveNames.map((name) => {
    const { by, from, to, epoch } = itemMoves[name];
    return [name, by, codeList(from, ', '), codeList(to, ', '), epoch];
  });
  return table(['move', 'made by', 'from', 'to', 'epoch'], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function codeList(states: readonly string[], separator: string): string {
  return states.map((state) => `\`${state}\``).join(separator);
}
