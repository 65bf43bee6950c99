/** Mails that another process parses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeMail } from '../../test/support/mail-writer.ts';
import { realWorld } from '../app/world.ts';
import { parse } from '../pipeline/extract/format/parse.ts';
import type { Fetcher } from '../pipeline/fetch/http/http.ts';
import { remoteParser } from './orchestrator/remote.ts';
import type { HandoffRequest } from './request.ts';
import { scraperWorks } from './worker/work.ts';

const never = new AbortController().signal;
const bytes = Buffer.from(
  writeMail({
    text: 'The Otter arrives.',
    files: [
      { name: 'a.bin', content: Uint8Array.of(0, 255, 10) },
      { name: 'b.txt', content: 'The walrus sleeps.' },
    ],
  }),
);
const plain = Buffer.from(writeMail({ text: 'The Otter arrives.' }));

function setup(body: Uint8Array = bytes) {
  const fetcher: Fetcher = {
    get: async ({ url }) => ({
      url,
      status: url.pathname === '/robots.txt' ? 404 : 200,
      wireBytes: body.length,
      headers: new Map([['content-type', 'text/plain']]),
      isCut: false,
      redirects: [],
      bytes: body,
    }),
  };
  const works = scraperWorks({ fetcher, parser: parse, world: realWorld() });
  return async (request: HandoffRequest) => {
    const work = works[request.kind];
    assert.ok(work);
    const reply = await work(request, { signal: never, progress: () => undefined });
    // Between processes, values travel as JSON with separate bytes.
    return { ...reply, value: JSON.parse(JSON.stringify(reply.value)) };
  };
}

test('the files of a mail come back unchanged from another process', async () => {
  const scratch = new Map<string, unknown>();
  const parser = remoteParser(setup(), { scratch, here: parse, isHere: () => false });
  const input = { bytes, mediaType: 'message/rfc822', source: 'a.eml' };
  const there = await parser(input, never);
  const here = await parse(input, never);
  const files = (parsed: typeof here) =>
    parsed.attachments?.map((file) => ({ ...file, bytes: [...file.bytes] }));
  assert.equal(files(here)?.length, 2);
  assert.deepEqual(files(there), files(here));
  assert.equal(there.markdown, here.markdown);
});

test('a visit returns the text of a mail without files; others are separate requests', async () => {
  const request = { source: 'https://a.example/b.eml', areRecordingsTaken: false, isParsed: true };
  const whole = await setup(plain)({ kind: 'visit', request });
  assert.match(whole.value.parsed.markdown, /The Otter arrives/);
  const { value, bytes: came } = await setup()({ kind: 'visit', request });
  assert.equal(value.parsed, undefined);
  assert.deepEqual(came, bytes);
});
