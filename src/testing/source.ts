/** What Pawl relies on in a kind of source. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  compareKeys,
  type FollowedPlace,
  type ListedPage,
  type SourceKind,
  type SyncOptions,
  unsettled,
} from '../engine/sync/source-kind.ts';
import { type Case, type Cleanup, conformance, endless } from './conformance.ts';

/** A kind, and a place of it that the suite may change: empty at first. */
export interface SourceCase {
  readonly kind: SourceKind;
  readonly location: string;
  readonly options?: SyncOptions | undefined;
  /** Creates or replaces documents, by name. */
  write(texts: Readonly<Record<string, string>>): Promise<void> | void;
  remove(name: string): Promise<void> | void;
  /** The key that a document has in the listing; its name if absent. */
  keyOf?(name: string): string;
  /** Makes the place unreachable. */
  lose?(): Promise<void> | void;
}

const names = ['a/b.md', 'a.md', 'B.md', 'z.md', 'é.md'];

async function placeOf({ kind, location, options = {} }: SourceCase): Promise<FollowedPlace> {
  return { location: await kind.check({ location, options }), options };
}

interface Listing {
  readonly keys: readonly string[];
  readonly stamps: ReadonlyMap<string, string | null>;
  readonly gone: readonly string[];
}

async function list(
  given: SourceCase,
  after = '',
  known: ReadonlyMap<string, string> = new Map(),
): Promise<Listing> {
  const pages: ListedPage[] = [];
  const from = { after, signal: endless(), stamps: async () => known };
  for await (const page of given.kind.list(await placeOf(given), from)) pages.push(page);
  const entries = pages.flatMap((page) => page.entries);
  assert.deepEqual(
    pages.flatMap(({ problems }) => problems),
    [],
  );
  return {
    keys: entries.map(({ key }) => key),
    stamps: new Map(entries.map(({ key, stamp }) => [key, stamp])),
    gone: pages.flatMap(({ gone = [] }) => gone),
  };
}

const keyed = ({ keyOf = (name) => name }: SourceCase, name: string): string => keyOf(name);

async function filled(given: SourceCase): Promise<void> {
  await given.write(Object.fromEntries(names.map((name) => [name, `# ${name}\n\nA heron.\n`])));
}

async function contentOf(given: SourceCase, name: string): Promise<string | undefined> {
  const { kind } = given;
  const place = await placeOf(given);
  const key = keyed(given, name);
  if (!kind.read) return kind.digest?.(place, key);
  const bytes = await kind.read(place, key, { signal: endless() });
  return bytes && createHash('sha256').update(bytes).digest('hex');
}

const cases: readonly Case<SourceCase>[] = [
  [
    'lists each document once, in the order of the bytes of the keys',
    async (given) => {
      await filled(given);
      const { keys } = await list(given);
      const expected = names.map((name) => keyed(given, name)).sort(compareKeys);
      assert.deepEqual(keys, expected);
    },
  ],
  [
    'continues after any key',
    async (given) => {
      await filled(given);
      const { keys } = await list(given);
      for (const [index, key] of keys.entries()) {
        assert.deepEqual((await list(given, key)).keys, keys.slice(index + 1));
      }
    },
  ],
  [
    'repeats the stamps of what has not changed',
    async (given) => {
      await filled(given);
      const first = await list(given);
      const known = new Map(
        [...first.stamps].flatMap(([key, at]) => (at === null ? [] : [[key, at]])),
      );
      assert.deepEqual((await list(given, '', known)).stamps, first.stamps);
    },
  ],
  [
    'shows a change by its stamp or by its content, and of nothing else',
    async (given) => {
      await filled(given);
      const before = await list(given);
      const contents = await contentOf(given, 'z.md');
      await given.write({ 'z.md': '# z.md\n\nA kingfisher, and it is longer.\n' });
      const after = await list(given);
      const changed = keyed(given, 'z.md');
      const stamp = after.stamps.get(changed);
      const isProof = typeof stamp === 'string' && stamp !== '' && !stamp.startsWith(unsettled);
      if (isProof) assert.notEqual(stamp, before.stamps.get(changed));
      if (contents !== undefined) assert.notEqual(await contentOf(given, 'z.md'), contents);
      assert.deepEqual(after.keys, before.keys);
    },
  ],
  [
    'lacks a removed document, or says that it is gone',
    async (given) => {
      await filled(given);
      await given.remove('a.md');
      const { keys } = await list(given);
      const expected = names.filter((name) => name !== 'a.md').map((name) => keyed(given, name));
      assert.deepEqual(keys, expected.sort(compareKeys));
    },
  ],
  [
    'gives each document a name of its own, which is always the same',
    async (given) => {
      await filled(given);
      const place = await placeOf(given);
      const named = () =>
        names.map((name) => given.kind.sourceOf(place, keyed(given, name)).source);
      assert.equal(new Set(named()).size, names.length);
      assert.deepEqual(named(), named());
    },
  ],
  [
    'fails if the place cannot be listed, instead of listing less',
    async (given) => {
      if (!given.lose) return;
      await filled(given);
      const place = await placeOf(given);
      await given.lose();
      const from = { after: '', signal: endless(), stamps: async () => new Map<string, string>() };
      const problems: unknown[] = [];
      const reading = async (): Promise<void> => {
        for await (const page of given.kind.list(place, from)) problems.push(...page.problems);
        if (problems.length > 0) throw problems[0];
      };
      await assert.rejects(reading());
    },
  ],
];

/** Registers the tests of a kind of source with `node:test`. */
export function sourceConformance(
  name: string,
  make: (t: Cleanup) => Promise<SourceCase> | SourceCase,
): void {
  conformance(`the kind of source ${name}`, cases, make);
}
