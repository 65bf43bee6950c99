/** No state is written out beside a state column: the kernel's tables name them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { machines } from '../src/kernel/lifecycle/diagram.ts';
import { stepTable } from '../src/kernel/lifecycle/item.ts';
import { readSource } from './support/source-text.ts';
import { isTest, stateLiteralRule } from './support/tidy-rules.ts';

const root = join(import.meta.dirname, '..');
const { attempt, stage, ...stored } = machines;
const columns = ['step', 'state', 'waits_on', 'waitsOn'];
/** A step is also the name of what a document has reached: only the last one is an end. */
const steps: ReadonlySet<string> = new Set(stepTable.slice(0, -1).map(({ step }) => step));
const states = [...new Set(Object.values(stored).flatMap((machine) => machine.states))].filter(
  (state) => !steps.has(state),
);

const folders = 'store engine service http cli library handoff attempt'.split(' ');
const paths = [...folders.map((name) => `src/${name}/**/*.ts`), 'web/**/*.{ts,tsx}'];
const isExcepted = (path: string): boolean =>
  isTest(path) || path.startsWith('src/store/migration/') || path.startsWith('web/dist/');

const ofStates = stateLiteralRule(columns, states);
const ofAttempts = stateLiteralRule(['status'], attempt.states);
const ofStatuses = stateLiteralRule(
  ['status'],
  [...new Set([...states, ...attempt.states, ...stage.states])],
);

/** Where people and programs see a status. */
const shown = ['src/service/**/*.ts', 'src/cli/**/*.ts', 'web/**/*.{ts,tsx}'];
/** The answers of enqueued requests have their own words, which no table gives. */
const hasStatusOfATable = ({ path }: { readonly path: string }): boolean =>
  !['src/service/enqueued.ts', 'src/service/handler/services.ts'].includes(path);

function sources(patterns: readonly string[]) {
  return globSync(patterns, { cwd: root })
    .filter((path) => !isExcepted(path))
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')));
}

describe('states come from the tables of the kernel', () => {
  test('no state of an item, job or batch task is written out beside its column', () => {
    const findings = sources(paths).flatMap(ofStates);
    assert.deepEqual(
      findings.map(({ path, line, message }) => `${path}:${line} ${message}`),
      [],
    );
  });

  test('no status of an attempt or a job is written out beside its column', () => {
    const findings = [
      ...sources(['src/attempt/**/*.ts']).flatMap(ofAttempts),
      ...sources(shown).filter(hasStatusOfATable).flatMap(ofStatuses),
    ];
    assert.deepEqual(
      findings.map(({ path, line, message }) => `${path}:${line} ${message}`),
      [],
    );
  });

  test('only the writers of items compile moves', () => {
    const writers = sources(['src/**/*.ts']).filter(({ code }) => code.includes('compileMove('));
    assert.deepEqual(
      writers.map(({ path }) => path).toSorted(),
      ['interventions', 'lost-leases', 'moves'].map((name) => `src/store/item/${name}.ts`),
    );
  });
});

/** A line, and whether it writes out a state. */
const samples: readonly [text: string, isFound: boolean][] = [
  ["sql`SELECT id FROM jobs WHERE state = 'paused'`", true],
  ["sql`SELECT id FROM jobs WHERE jobs.state <> 'canceled'`", true],
  ["sql`SELECT id FROM items WHERE step IN ('failed', 'canceled')`", true],
  ["sql`SELECT id FROM items WHERE step NOT IN ('done')`", true],
  ["sql`UPDATE items SET waits_on = 'turn'`", true],
  ["if (row.state === 'paused') stop();", true],
  ["if (row?.waits_on !== 'worker') stop();", true],
  ["if ('paused' === state) stop();", true],
  ['sql`SELECT id FROM jobs WHERE state = :state`', false],
  ["sql`SELECT id FROM jobs WHERE state = '${jobState.paused}'`", false],
  ['if (row.state === jobState.paused) stop();', false],
  ["if (outcome.kind === 'failed') stop();", false],
  ["this.#state = 'closed';", false],
  ["return { status: 'done' };", false],
  ["// state = 'paused'", false],
];

describe('the rule of state literals', () => {
  for (const [text, isFound] of samples) {
    test(`finds ${isFound ? 'a state' : 'nothing'} in ${text}`, () => {
      assert.equal(ofStates(readSource('src/store/a.ts', text)).length > 0, isFound);
    });
  }
});
