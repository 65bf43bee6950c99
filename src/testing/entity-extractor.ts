/** What Pawl relies on in an entity extractor. */
import assert from 'node:assert/strict';
import { entityKinds } from '../pipeline/entity/extraction.ts';
import { checkEntityExtractor, type EntityExtractorPort } from '../port/entity-extractor.ts';
import { type Case, type Cleanup, conformance, endless } from './conformance.ts';

export interface ExtractorCase {
  readonly extractor: EntityExtractorPort;
  /** A text, and the names that must be found in it. */
  readonly text: string;
  readonly names: readonly string[];
}

const cases: readonly Case<ExtractorCase>[] = [
  [
    'it has every member of the port',
    async ({ extractor }) => {
      checkEntityExtractor(extractor);
    },
  ],
  [
    'it finds the names, each with a known kind and with mentions inside the text',
    async ({ extractor, text, names }) => {
      const found = await extractor.extract(text, { signal: endless() });
      const all = new Set(found.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
      for (const name of names) assert.ok(all.has(name), `${name} was not found`);
      for (const { kind, mentions = [] } of found) {
        assert.ok(entityKinds.includes(kind), `the kind ${kind} is not known`);
        for (const { start, end } of mentions) {
          assert.ok(start >= 0 && start < end && end <= text.length);
        }
      }
    },
  ],
  [
    'a text without names has no entities',
    async ({ extractor }) => {
      assert.deepEqual(await extractor.extract('and so on', { signal: endless() }), []);
    },
  ],
];

/** Registers the tests of an entity extractor with `node:test`. */
export function entityExtractorConformance(
  name: string,
  make: (t: Cleanup) => Promise<ExtractorCase> | ExtractorCase,
): void {
  conformance(`the entity extractor ${name}`, cases, make);
}
