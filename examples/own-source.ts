/** A kind of source of your own: with `open({ sourceKinds: [mapKind(map)] })`, corpora follow it. */
import type { SourceKind } from 'pawl';

export function mapKind(notes: ReadonlyMap<string, string>): SourceKind {
  return {
    name: 'map',
    check: async ({ location }) => location,
    list: async function* (_place, { after }) {
      const keys = [...notes.keys()].filter((key) => key > after).sort();
      yield { entries: keys.map((key) => ({ key, stamp: null, size: null })), problems: [] };
    },
    read: async (_place, key) => Buffer.from(notes.get(key) ?? ''),
    sourceOf: ({ location }, key) => ({ kind: 'upload', source: `${location}/${key}` }),
  };
}
