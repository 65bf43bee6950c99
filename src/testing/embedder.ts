/** What Pawl relies on in an embedder. */
import assert from 'node:assert/strict';
import { checkEmbedder, type EmbedderPort, type Vector } from '../port/embedder.ts';
import { type Case, type Cleanup, conformance, endless } from './conformance.ts';

const texts = [
  'The moon moves the sea, twice a day.',
  'Bread is made of flour, water, salt and time.',
  'Der Leuchtturm zählt die Schiffe bei Nacht.',
  '返金は五日以内に行われます。',
];

const cases: readonly Case<EmbedderPort>[] = [
  [
    'it has every member of the port',
    async (embedder) => {
      checkEmbedder(embedder);
    },
  ],
  [
    'each text has one vector of its length, of finite numbers, in the order of the texts',
    async (embedder) => {
      const together = await embedder.embedDocuments(texts, { signal: endless() });
      assert.equal(together.length, texts.length);
      for (const [place, text] of texts.entries()) {
        const [alone] = await embedder.embedDocuments([text], { signal: endless() });
        checkVector(embedder, together[place]);
        checkVector(embedder, alone);
        assert.ok(
          cosine(together[place], alone) > 0.99,
          `the vector of text ${place} depends on the texts beside it, or on their order`,
        );
      }
    },
  ],
  [
    'a full batch, a repeated text, a short one and a long one are embedded',
    async (embedder) => {
      const { batchSize = 96 } = embedder;
      const many = Array.from({ length: batchSize }, (_, at) => texts[at % texts.length] ?? '');
      many[0] = 'a';
      if (many.length > 1) many[1] = 'The sea is wide and the moon is far. '.repeat(60);
      const vectors = await embedder.embedDocuments(many, { signal: endless() });
      assert.equal(vectors.length, many.length);
      for (const vector of vectors) checkVector(embedder, vector);
    },
  ],
  [
    'calls at the same time do not disturb each other',
    async (embedder) => {
      const alone = await embedder.embedDocuments([texts[0] ?? ''], { signal: endless() });
      const both = await Promise.all(
        texts.map((text) => embedder.embedDocuments([text], { signal: endless() })),
      );
      assert.ok(cosine(both[0]?.[0], alone[0]) > 0.99);
    },
  ],
  [
    'the query of a document is nearer to it than to another one',
    async (embedder) => {
      const documents = await embedder.embedDocuments(texts.slice(0, 2), { signal: endless() });
      const query = await embedder.embedQuery(texts[0] ?? '', { signal: endless() });
      checkVector(embedder, query);
      assert.ok(cosine(query, documents[0]) > cosine(query, documents[1]));
    },
  ],
];

/** Registers the tests of an embedder with `node:test`. */
export function embedderConformance(
  name: string,
  make: (t: Cleanup) => Promise<EmbedderPort> | EmbedderPort,
): void {
  conformance(`the embedder ${name}`, cases, make);
}

function checkVector({ dimensions }: EmbedderPort, vector: Vector | undefined): void {
  assert.equal(vector?.length, dimensions);
  assert.ok(vector?.every(Number.isFinite), 'a vector has a value that is no finite number');
  assert.ok(
    vector?.some((value) => value !== 0),
    'a vector is all zeros',
  );
}

function cosine(one: Vector = [], other: Vector = []): number {
  const product = (a: Vector, b: Vector): number =>
    Array.from(a).reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);
  return product(one, other) / Math.sqrt(product(one, one) * product(other, other));
}
