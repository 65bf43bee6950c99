import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { mediaTypeOf } from '../../fetch/http/media-type.ts';
import { streamDocx } from './office/docx-stream.ts';
import { parse } from './parse.ts';
import { openZip } from './zip/zip.ts';
import { writeZip } from './zip/zip-writer.ts';

const samples = join(import.meta.dirname, '../../../../test/samples/format');
const never = new AbortController().signal;

describe('a sample becomes what is expected of it', () => {
  for (const name of globSync('*', { cwd: samples }).sort()) {
    if (name.endsWith('.expected')) continue;
    test(name, async () => {
      const bytes = readFileSync(join(samples, name));
      const mediaType = mediaTypeOf(name, bytes) ?? 'unknown';
      const parsed = await parse({ bytes, mediaType, source: name }, never);
      const { markdown, attachments, ...rest } = parsed;
      const files = attachments?.map((file) => `${file.name}: ${file.bytes.length} bytes`);
      const facts = { mediaType, ...rest, attachments: files };
      const found = `${JSON.stringify(facts, null, 2)}\n\n${markdown}\n`;
      assert.equal(found, readFileSync(join(samples, `${name}.expected`), 'utf8'));
    });
  }
});

for (const name of ['report.docx', 'remarks.docm']) {
  test(`a Word document that is too long for a tree keeps its words: ${name}`, async () => {
    const bytes = readFileSync(join(samples, name));
    const input = { bytes, mediaType: mediaTypeOf(name, bytes) ?? '', source: name };
    const { markdown } = await parse(input, never);
    const evenly = (text: string): string => text.replace(/\n\s+/g, '\n');
    assert.equal(evenly(streamDocx(openZip(bytes))), evenly(markdown));
  });
}

for (const name of ['report.docx', 'stock.xlsx', 'talk.pptx']) {
  test(`names of parts in lower case, and by the separator of Windows: ${name}`, async () => {
    const bytes = readFileSync(join(samples, name));
    const zip = openZip(bytes);
    const parts = zip.names.map(
      (part) => [part.toLowerCase().replaceAll('/', '\\'), zip.read(part) ?? ''] as const,
    );
    const changed = writeZip(parts, 'deflated');
    const mediaType = mediaTypeOf(name, bytes) ?? '';
    assert.equal(mediaTypeOf('unnamed', changed), mediaType);
    const expected = await parse({ bytes, mediaType, source: name }, never);
    assert.deepEqual(await parse({ bytes: changed, mediaType, source: name }, never), expected);
  });
}

test('an aborted parse does not start', async () => {
  const bytes = Buffer.from('words');
  const input = { bytes, mediaType: 'text/plain', source: 'a.txt' };
  await assert.rejects(parse(input, AbortSignal.abort()), { name: 'AbortError' });
});

test('the charset of the server decides if the bytes do not', async () => {
  const bytes = Buffer.from(
    '<p>\xcf\xe0\xf0\xee\xec waits at the quay for all of us.</p>',
    'latin1',
  );
  const input = { bytes, mediaType: 'text/html', source: 'https://a.example/' };
  const { markdown } = await parse({ ...input, charset: 'windows-1251' }, never);
  assert.match(markdown, /^Паром waits/);
});

test('the output has no control characters, lone surrogates or combining accents', async () => {
  const bytes = Buffer.from('{"a":"x\\u0000\\ud800y\\u0007z e\\u0301"}');
  const { markdown } = await parse({ bytes, mediaType: 'application/json', source: 'a' }, never);
  assert.equal(markdown, '- a: x\ufffd\ufffdyz é');
});
