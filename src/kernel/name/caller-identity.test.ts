import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideCaller, type IdentityDecision, type Sighting } from './caller-identity.ts';

const rows: readonly [title: string, seen: Sighting, decision: IdentityDecision][] = [
  ['a key that was never seen', { hasName: false }, { do: 'create' }],
  ['a known key', { hasName: false, byKey: 'k' }, { do: 'know', caller: 'k' }],
  ['a key and a name that were never seen', { hasName: true }, { do: 'create' }],
  [
    'a known key that gets its first name keeps its caller',
    { hasName: true, byKey: 'k' },
    { do: 'link', caller: 'k', what: 'name' },
  ],
  [
    'a new key with a known name is linked to its caller',
    { hasName: true, byName: 'n' },
    { do: 'link', caller: 'n', what: 'key' },
  ],
  [
    'a known key and a known name of the same caller',
    { hasName: true, byKey: 'n', byName: 'n' },
    { do: 'know', caller: 'n' },
  ],
  [
    'a nameless caller whose key belongs to another caller is merged into it',
    { hasName: true, byKey: 'k', byName: 'n' },
    { do: 'merge', caller: 'n', from: 'k' },
  ],
  [
    'a key that passes to another caller transfers nothing',
    { hasName: true, byKey: 'k', byName: 'n', isNamedOtherwise: true },
    { do: 'link', caller: 'n', what: 'key' },
  ],
  [
    'a key that is given to a new caller transfers nothing',
    { hasName: true, byKey: 'k', isNamedOtherwise: true },
    { do: 'create' },
  ],
];

for (const [title, seen, decision] of rows) {
  test(title, () => assert.deepEqual(decideCaller(seen), decision));
}
