import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MachineName, machines, machinesPage, mermaid } from './diagram.ts';
import { item } from './item.ts';
import { targets } from './machine.ts';

const names = Object.keys(machines) as MachineName[];

test('every lifecycle of Pawl has its diagram', () => {
  assert.deepEqual(names, [
    'item',
    'item-wait',
    'job',
    'stage',
    'attempt',
    'batch-task',
    'batch-job',
    'sync-source',
    'sync-run',
  ]);
  for (const name of names) assert.ok(mermaid(machines[name]).startsWith('stateDiagram-v2\n'));
});

test('a diagram has one arrow for each pair of states, with all events that lead along it', () => {
  const arrows = mermaid(machines['batch-job']).trimEnd().split('\n');
  assert.deepEqual(arrows, [
    'stateDiagram-v2',
    '  [*] --> submitted',
    '  submitted --> running : run',
    '  running --> running : run / poll_error',
    '  submitted --> completed : complete',
    '  running --> completed : complete',
    '  submitted --> failed : fail / poll_errors_exhausted',
    '  running --> failed : fail / poll_errors_exhausted',
    '  submitted --> submitted : poll_error / resubmit',
    '  running --> submitted : resubmit',
    '  failed --> failed : end_late',
    '  completed --> [*]',
    '  failed --> [*]',
  ]);
});

test('every allowed transition is in the diagram of its machine, and nothing else is', () => {
  for (const name of names.filter((each) => each !== 'item')) {
    const { states, edges, final, initial } = machines[name];
    const drawn = mermaid(machines[name]).match(/\S+ --> \S+/g) ?? [];
    const allowed = states.flatMap((state: string) =>
      states
        .filter((to: string) =>
          edges.some(([, from, target]) => target === to && from.some((each) => each === state)),
        )
        .map((to: string) => `${state} --> ${to}`),
    );
    const ends = final.map((state) => `${state} --> [*]`);
    assert.deepEqual(
      drawn.toSorted(),
      [`[*] --> ${initial}`, ...allowed, ...ends].toSorted(),
      name,
    );
  }
});

test('the diagram of the item forks into its branches and joins before persisted', () => {
  const lines = mermaid(item.machine)
    .split('\n')
    .map((line) => line.trim());
  for (const branch of ['chunked', 'embedded', 'entity_extracted']) {
    assert.ok(lines.includes(`after_content_extracted --> ${branch}`), branch);
    assert.ok(lines.includes(`${branch} --> before_persisted`), branch);
  }
  assert.ok(lines.includes('state after_content_extracted <<fork>>'));
  assert.ok(lines.includes('state before_persisted <<join>>'));
  assert.ok(lines.includes('before_persisted --> persisted'));
  assert.ok(lines.includes('unfinished --> failed : fail / expire / condemn'));
  assert.ok(lines.includes('failed --> unfinished : restart / retry'));
  assert.ok(lines.includes('failed --> canceled : discard'));
  assert.equal(new Set(lines).size, lines.length);
});

test('every state of the item is in its diagram', () => {
  for (const state of item.machine.states)
    assert.match(mermaid(item.machine), new RegExp(`\\b${state}\\b`));
});

test('the page has a section with a diagram and both tables for every machine', () => {
  const page = machinesPage();
  for (const name of names) {
    assert.equal(page.split(`\n## ${name}\n`).length, 2, name);
    assert.ok(page.includes(mermaid(machines[name])), name);
  }
  assert.equal(page.split('```mermaid').length - 1, names.length);
  assert.equal(page.split('| state | a person may |').length - 1, names.length);
  assert.ok(page.includes('| `paused` | cancel, resume |'));
  assert.ok(page.includes('| claim | dispatcher | `turn` | `worker` | raise |'));
  assert.ok(page.endsWith('|\n'));
});

test('the same tables give the same text', () => {
  assert.equal(machinesPage(), machinesPage());
  assert.deepEqual(targets(machines.stage, 'pending', 'begin'), ['scraping']);
});
