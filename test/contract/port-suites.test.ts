/** The suites of `pawl/testing`, run on adapters of Pawl and on small parts of a program. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import type { EmbedderPort } from '../../src/port/embedder.ts';
import { staticEmbedder } from '../../src/provider/embedding/static-embedder.ts';
import { fromSignedBytes } from '../../src/provider/embedding/vector-bytes.ts';
import { openQdrant } from '../../src/sink/qdrant.ts';
import {
  blobConformance,
  embedderConformance,
  entityExtractorConformance,
  rerankerConformance,
  type SinkCase,
  sinkConformance,
  stepConformance,
} from '../../src/testing/index.ts';
import { openQdrantPlace, pointsOf } from '../support/qdrant/qdrant-place.ts';
import { temporaryDirectory } from '../support/temporary.ts';

embedderConformance('of Pawl', (): EmbedderPort => {
  const own = staticEmbedder();
  const embed = async (texts: readonly string[], signal: AbortSignal) =>
    (await own.embed(texts, signal)).vectors.map((bytes) => [...fromSignedBytes(bytes)]);
  return {
    model: 'static',
    dimensions: 256,
    embedDocuments: (texts, { signal }) => embed(texts, signal),
    embedQuery: async (text, { signal }) => (await embed([text], signal))[0] ?? [],
  };
});

rerankerConformance('by shared words', () => ({
  name: 'words',
  topN: 20,
  rerank: async (query, passages) => {
    const words = new Set(query.toLowerCase().match(/\w+/g));
    return passages.map(({ text }) => {
      const own = text.toLowerCase().match(/\w+/g) ?? [];
      return own.filter((word) => words.has(word)).length / own.length;
    });
  },
}));

entityExtractorConformance('by capital letters', () => ({
  text: 'Mira Novak met Jonas Berg in Oslo.',
  names: ['Mira Novak', 'Jonas Berg', 'Oslo'],
  extractor: {
    name: 'capitals',
    extract: async (text) =>
      [...text.matchAll(/[A-Z]\w+(?: [A-Z]\w+)*/g)].map(({ 0: name, index: start }) => {
        return { kind: 'name', name, mentions: [{ start, end: start + name.length }] } as const;
      }),
  },
}));

blobConformance('a map', () => {
  const held = new Map<string, Uint8Array>();
  return {
    blobs: {
      put: async (bytes) => {
        const key = createHash('sha256').update(bytes).digest('hex');
        held.set(key, Buffer.from(bytes));
        return key;
      },
      get: async (key) => held.get(key),
    },
  };
});

stepConformance('that keeps the first sentence', () => {
  const kept = new Map<string, string>();
  return {
    step: {
      add: 'summarized',
      bit: 16,
      version: '1',
      run: async ({ id, text }) => {
        return { effect: async () => void kept.set(id, text.split('.')[0] ?? '') };
      },
    },
    written: () => [...kept],
  };
});

sinkConformance('Qdrant', async (t): Promise<SinkCase> => {
  const place = await openQdrantPlace(t);
  const sink = openQdrant({ ...place, world: realWorld() });
  t.after(() => sink.close());
  const held = async (): Promise<number[]> => {
    const points = await pointsOf(place);
    return points.map(({ payload }) => Number(payload.generation));
  };
  return { sink, held };
});

describe('a suite', () => {
  const broken: readonly [title: string, program: string, expected: RegExp][] = [
    [
      'an embedder that mixes up its texts',
      `embedderConformance('mixed', () => ({ model: 'm', dimensions: 2,
        embedDocuments: async (texts) => texts.map((_, at) => [at + 1, 1]),
        embedQuery: async () => [1, 1] }));`,
      /depends on the texts beside it, or on their order/,
    ],
    [
      'a sink that removes newer generations',
      `sinkConformance('rash', () => { const held = new Map();
        return { held: async () => [...held.keys()], sink: { name: 'rash', keeps: 'vectors',
          write: async ({ id, documentId }) => void held.set(id, documentId),
          settle: async ({ documentId, current }) => { for (const [id, of] of held)
            if (of === documentId && id !== current) held.delete(id); },
          tidy: async () => {} } }; });`,
      /settling leaves generations that are newer/,
    ],
    [
      'a step whose effect is not idempotent',
      `let runs = 0; stepConformance('counting', () => ({ written: () => runs, step: {
        add: 'counted', bit: 16, version: '1',
        run: async () => ({ effect: async () => { runs += 1; } }) } }));`,
      /✖ the same document again leaves the same result/,
    ],
  ];
  for (const [title, program, expected] of broken) {
    test(`finds ${title}`, (t) => {
      const file = join(temporaryDirectory(t), 'broken.test.mjs');
      const suites = 'embedderConformance, sinkConformance, stepConformance';
      writeFileSync(file, `import { ${suites} } from 'pawl/testing';\n${program}`);
      const alias = new URL('../support/pawl-alias.ts', import.meta.url).href;
      const args = ['--import', alias, '--test-reporter', 'spec', file];
      // A test inside a test reports to its parent unless this is absent.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
      assert.notEqual(status, 0);
      assert.match(stdout, expected);
    });
  }
});
