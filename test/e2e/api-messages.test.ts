/** Messages of failed jobs: the sentence fits the cause, on every interface. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Bench, openBench } from './api-client.ts';
import { openSite } from './web-site.ts';

const processed = 'Content could not be processed. Try a different URL or format.';
const fetched = 'Could not fetch the URL. Check that it is accessible.';

async function upload({ service }: Bench, name: string, bytes: Uint8Array): Promise<string> {
  const form = new FormData();
  form.set('corpus_name', 'a');
  form.set('file', new Blob([new Uint8Array(bytes)]), name);
  const response = await fetch(`${service.address}/jobs/upload`, { method: 'POST', body: form });
  assert.equal(response.status, 202);
  return String(((await response.json()) as { job_id: string }).job_id);
}

const files: readonly [name: string, bytes: Uint8Array, code: string][] = [
  ['damaged.pdf', Buffer.from('%PDF-1.7\nnothing of a PDF follows\n%%EOF'), 'parse_error_strict'],
  ['blank.txt', Buffer.from(' \n\n \n'), 'no_usable_content'],
  ['empty.txt', Buffer.alloc(0), 'empty_source'],
  ['packed.zip', Buffer.from('504b0304140000000000', 'hex'), 'unsupported_mime'],
  ['packed.gz', gzipSync('some text'), 'unsupported_mime'],
];

describe('the message of a failed job', () => {
  for (const [name, bytes, code] of files) {
    test(`of the upload ${name} names its content`, async (t) => {
      const bench = await openBench(t);
      const job = await bench.ended(await upload(bench, name, bytes));
      const error = job.error as { code: string };
      assert.deepEqual([job.status, error.code, job.message], ['failed', code, processed]);
    });
  }

  test('of a page names its content, or the URL if it is unreachable', async (t) => {
    const site = await openSite(t);
    site.serve('/empty', '<html><body></body></html>');
    site.break('/gone');
    const { submit, ended, service } = await openBench(t, { allowHosts: [site.host] });
    const cases: readonly [path: string, code: string, message: string][] = [
      ['/empty', 'no_usable_content', processed],
      ['/gone', 'http_404', fetched],
    ];
    for (const [path, code, message] of cases) {
      const id = await submit({ corpus_name: 'a', url: `${site.origin}${path}` });
      const job = await ended(id);
      assert.deepEqual([(job.error as { code: string }).code, job.message], [code, message]);
      const summary = await (await service.pawl.job(id)).summary();
      assert.equal(summary.message, message);
    }
  });
});
