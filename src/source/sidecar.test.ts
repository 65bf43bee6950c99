import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Cleanup, temporaryDirectory } from '../../test/support/temporary.ts';
import { withMetadata, withUploadedSidecars } from './sidecar.ts';
import { expandSources } from './sources.ts';

function setup(t: Cleanup, files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

async function expanded(directory: string, input = '.') {
  const sources = await expandSources([input], { directory });
  return sources.map(({ source, metadata }) => [source.slice(directory.length + 1), metadata]);
}

test('a sidecar is the metadata of its file, and not a document', async (t) => {
  const directory = setup(t, {
    'a.md': 'a',
    'a.md.meta.json': '\ufeff{"team": "ops", "tags": ["x"]}',
    'b.md': 'b',
    'lonely.meta.json': '{"kept": "as a document"}',
  });
  const ops = { team: 'ops', tags: ['x'] };
  assert.deepEqual(await expanded(directory), [
    ['a.md', ops],
    ['b.md', undefined],
    ['lonely.meta.json', undefined],
  ]);
  assert.deepEqual(await expanded(directory, '*.md'), [
    ['a.md', ops],
    ['b.md', undefined],
  ]);
  assert.deepEqual(await expanded(directory, 'a.md'), [['a.md', ops]]);
});

test('an invalid sidecar is refused by its name', async (t) => {
  const cases: readonly [string, RegExp][] = [
    ['{team: ops}', /the sidecar .*a\.md\.meta\.json is not JSON/],
    ['["ops"]', /the sidecar .*a\.md\.meta\.json must be an object/],
    ['{"team": null}', /a\.md\.meta\.json: the key "team" must have a string/],
    [`{"team": "${'x'.repeat(70_000)}"}`, /a\.md\.meta\.json has 70012 bytes/],
  ];
  for (const [text, reason] of cases) {
    const directory = setup(t, { 'a.md': 'a', 'a.md.meta.json': text });
    await assert.rejects(expanded(directory), reason);
  }
});

test('the sidecar of an upload is found by the name of its file', async () => {
  const upload = (name: string, body: string) => {
    const input = { kind: 'blob', title: name, body } as const;
    return { kind: 'upload', source: `upload:${name}`, input } as const;
  };
  const files = [upload('x/a.pdf', '1'), upload('x/a.pdf.meta.json', '{"year": 2025}')];
  const read = async ({ input }: (typeof files)[number] | { input?: { body: string } }) =>
    Buffer.from(input?.body ?? '');
  const [document, ...others] = await withUploadedSidecars(files, read);
  assert.deepEqual(document?.metadata, { year: 2025 });
  assert.deepEqual(others, []);
});

test('the request wins over a sidecar, and an inline document over the request', () => {
  const given = { team: 'all', year: 2025 };
  const [file, inline] = withMetadata(
    [
      { kind: 'file', source: '/a', metadata: { team: 'sidecar', owner: 'ann' } },
      { kind: 'inline', source: 'inline:a', metadata: { team: 'own' } },
    ],
    given,
  );
  assert.deepEqual(file?.metadata, { team: 'all', owner: 'ann', year: 2025 });
  assert.deepEqual(inline?.metadata, { team: 'own', year: 2025 });
  assert.throws(() => withMetadata([], ['team']), /must be an object/);
});
