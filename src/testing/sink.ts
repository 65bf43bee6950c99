/** What Pawl, and the readers of a sink, rely on. */
import assert from 'node:assert/strict';
import { checkSinks, type SinkPort } from '../port/sink.ts';
import type { DocumentState, Generation, SinkChunk } from '../sink/sink.ts';
import { type Case, type Cleanup, conformance, endless } from './conformance.ts';

export interface SinkCase {
  readonly sink: SinkPort;
  /** The ids of the generations that the sink holds, of all documents. */
  held(): Promise<readonly number[]>;
}

const model = 'conformance-4';
const notes = { caller: 'local', corpus: 'notes' };
const none = { title: null, language: null };

function chunkOf(text: string, ordinal: number): SinkChunk {
  const vector = [1, 0, 0, 0].map((_, place) => (place === ordinal % 4 ? 1 : 0));
  return { ordinal, key: `${text}-${ordinal}`, heading: '', text, vector };
}

function generation(
  id: number,
  documentId: string,
  of = notes,
  texts = ['sea', 'moon'],
): Generation {
  return {
    id,
    documentId,
    source: `inline:${documentId}`,
    ...of,
    ...none,
    async *chunks() {
      // In two pages, as a long document is read.
      for (const [ordinal, text] of texts.entries()) yield [chunkOf(text, ordinal)];
    },
    entities: async () => [
      { ordinal: 0, kind: 'person', name: 'Mira Novak', aliases: ['Mira'], mentions: 2 },
      { ordinal: 1, kind: 'location', name: 'Oslo', aliases: [], mentions: 1 },
    ],
    relations: async () => [{ one: 0, other: 1, weight: 1 }],
  };
}

function stateOf(
  documentId: string,
  { current, asOf }: { readonly current: number | undefined; readonly asOf: number },
): DocumentState {
  return { documentId, current, asOf, models: [model], ...notes, ...none };
}

async function write({ sink }: SinkCase, ...generations: readonly Generation[]): Promise<void> {
  for (const each of generations) await sink.write(each, [model], endless());
}

async function holds(given: SinkCase, expected: readonly number[]): Promise<void> {
  const ids = [...new Set(await given.held())];
  assert.deepEqual(
    ids.sort((one, other) => one - other),
    expected,
  );
}

const cases: readonly Case<SinkCase>[] = [
  [
    'it has every member of the port',
    async ({ sink }) => {
      checkSinks([sink]);
    },
  ],
  [
    'a generation is written beside the existing ones, also twice',
    async (given) => {
      await write(given, generation(1, 'a'), generation(2, 'a'), generation(2, 'a'));
      await holds(given, [1, 2]);
    },
  ],
  [
    'settling keeps the current generation, and removes the others of that document alone',
    async (given) => {
      await write(given, generation(1, 'a'), generation(2, 'b'), generation(3, 'a'));
      for (const _ of ['once', 'again']) {
        await given.sink.settle(stateOf('a', { current: 3, asOf: 3 }), endless());
        await holds(given, [2, 3]);
      }
    },
  ],
  [
    'settling leaves generations that are newer than it knows',
    async (given) => {
      await write(given, generation(1, 'a'), generation(2, 'a'), generation(5, 'a'));
      await given.sink.settle(stateOf('a', { current: 2, asOf: 3 }), endless());
      await holds(given, [2, 5]);
    },
  ],
  [
    'a deleted document is removed, and settling an unknown one changes nothing',
    async (given) => {
      await write(given, generation(1, 'a'), generation(2, 'b'));
      await given.sink.settle(stateOf('a', { current: undefined, asOf: 1 }), endless());
      await given.sink.settle(stateOf('unknown', { current: undefined, asOf: 9 }), endless());
      await holds(given, [2]);
    },
  ],
  [
    'a document that is smaller than before leaves nothing of the old one',
    async (given) => {
      await write(given, generation(1, 'a', notes, ['one', 'two', 'three']));
      await write(given, generation(2, 'a', notes, ['one']));
      await given.sink.settle(stateOf('a', { current: 2, asOf: 2 }), endless());
      await holds(given, [2]);
      const size = await given.sink.size?.({ corpus: 'notes', model }, endless());
      assert.equal(size ?? 1, 1);
    },
  ],
  [
    'tidying removes what belongs to no corpus, and nothing else',
    async (given) => {
      await write(given, generation(1, 'a'), generation(2, 'b', { ...notes, corpus: 'gone' }));
      await given.sink.tidy(async () => [{ corpus: 'notes', model }], endless());
      await holds(given, [1]);
    },
  ],
  [
    'a sink that is searched returns the nearest chunks first, without those that are excluded',
    async (given) => {
      const { sink } = given;
      if (!sink.nearest) return;
      await write(given, generation(1, 'a'), generation(2, 'b'));
      const asked = { ...notes, model, vector: [0.1, 1, 0, 0], size: 10 };
      const near = await sink.nearest({ ...asked, without: [1] }, endless());
      assert.deepEqual(
        near?.map(({ generationId, ordinal }) => [generationId, ordinal]),
        [
          [2, 1],
          [2, 0],
        ],
      );
      const unknown = { ...asked, corpus: 'unknown', without: [] };
      assert.equal((await sink.nearest(unknown, endless()))?.length ?? 0, 0);
    },
  ],
];

/** Registers the tests of a sink with `node:test`. */
export function sinkConformance(
  name: string,
  make: (t: Cleanup) => Promise<SinkCase> | SinkCase,
): void {
  conformance(`the sink ${name}`, cases, make);
}
