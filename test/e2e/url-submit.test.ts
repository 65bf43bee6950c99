/** Addresses that are refused on submission: exact codes, and no job is created. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Failure, type FailureCode, open, type Pawl } from '../../src/index.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { makeDirectory, removeDirectory } from '../support/temporary.ts';

let pawl: Pawl;
const data = makeDirectory();
before(async () => {
  const allowHosts = ['127.0.0.1:4010', 'wiki.corp:80', '169.254.169.254:80'];
  pawl = await open({ data, work: false, allowHosts });
});
after(async () => {
  await pawl.close();
  removeDirectory(data);
});

const submit = (url: string) => pawl.ingest([url], { corpus: 'web' });

const refused: Partial<Record<FailureCode, readonly string[]>> = {
  private_address: [
    ...['http://127.0.0.1/', 'http://localhost/', 'http://localhost./', 'http://foo.localhost/'],
    ...['http://2130706433/', 'http://0x7f000001/', 'http://017700000001/', 'http://0177.0.0.1/'],
    ...['http://127.1/', 'http://0/', 'http://①②⑦.⓪.⓪.①/', 'http://127。0。0。1/'],
    ...[
      'http://%31%32%37.0.0.1/',
      'http://ｌｏｃａｌｈｏｓｔ/',
      'http:///127.0.0.1/',
      'http:127.0.0.1',
    ],
    ...['http://169.254.169.254/latest/meta-data/', 'http://169.254.170.2/'],
    ...['http://metadata.google.internal/', 'http://100.100.100.200/', 'http://192.0.0.192/'],
    ...['http://168.63.129.16/', 'http://[::1]/', 'http://[::]/', 'http://[fe80::1]/'],
    ...['http://[fd00:ec2::254]/', 'http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/'],
    ...['http://[::127.0.0.1]/', 'http://[::ffff:0:127.0.0.1]/', 'http://[64:ff9b::a9fe:a9fe]/'],
    ...['http://[64:ff9b:1::a00:1]/', 'http://[2002:7f00:1::]/', 'http://[2001:0:7f00:1::]/'],
    ...['http://10.0.0.1/', 'http://172.16.0.1/', 'http://172.31.255.254/', 'http://192.168.1.1/'],
    ...['http://100.64.0.1/', 'http://198.18.0.1/', 'http://0.1.2.3/', 'http://224.0.0.1/'],
    ...['http://240.0.0.1/', 'http://255.255.255.255/', 'http://127.0.0.1:4011/'],
    ...['http://a.example:22/', 'http://a.example:25/', 'http://a.example:6379/'],
    ...['http://a.example:5432/', 'http://a.example:0/', 'http://intranet/', 'http://wiki.local/'],
  ],
  invalid_url: [
    ...['file:///etc/passwd', 'gopher://127.0.0.1:6379/_FLUSHALL', 'ftp://example.com/'],
    ...['data:text/html,hello', 'javascript:alert(1)', 'blob:https://example.com/1'],
    ...['http://user:pass@example.com/', 'http://example.com@127.0.0.1/', 'http://xn--/'],
    ...['http://256.256.256.256/', 'http://exa\0mple.com/', 'http://a..b/', 'http://'],
    `http://${'a'.repeat(64)}.com/`,
    `http://${'a.'.repeat(127)}com/`,
    `http://example.com/${'a'.repeat(limits.fetch.urlCharactersMax)}`,
  ],
};

describe('an address is refused immediately', () => {
  for (const [code, urls] of Object.entries(refused)) {
    for (const url of urls) {
      test(`with ${code}: ${JSON.stringify(url.slice(0, 60))}`, async () => {
        await assert.rejects(submit(url), (error) => {
          assert.ok(error instanceof Failure);
          assert.equal(error.code, code);
          assert.doesNotMatch(error.message, /pass@|\bat .*:\d+:\d+/);
          return true;
        });
        assert.deepEqual(await pawl.jobs().all(), []);
      });
    }
  }

  test('together with all others of its submission', async () => {
    const urls = ['http://a.example/', 'http://127.0.0.1/'];
    await assert.rejects(pawl.ingest(urls, { corpus: 'web' }), { code: 'private_address' });
    assert.deepEqual(await pawl.jobs().all(), []);
  });
});

describe('an address is accepted', () => {
  const accepted: readonly [url: string, stored: string][] = [
    ['http://127.0.0.1:4010/a', 'http://127.0.0.1:4010/a'],
    ['http://wiki.corp/', 'http://wiki.corp/'],
    ['http://example.com\\@127.0.0.1/', 'http://example.com/@127.0.0.1/'],
    ['http://exam\tple.com/\n', 'http://example.com/'],
    ['http://ex\u0430mple.com/', 'http://xn--exmple-4nf.com/'],
    ['http://1.1.1.1/', 'http://1.1.1.1/'],
    ['http://a.example/?token=SECRET#part', 'http://a.example/?token=SECRET'],
  ];
  for (const [url, stored] of accepted) {
    test(`and stored in one form: ${JSON.stringify(url)}`, async () => {
      const job = await submit(url);
      const items = await job.items().all();
      assert.deepEqual(
        items.map(({ source }) => source),
        [stored],
      );
      await job.cancel();
    });
  }

  test('once, even if it is named repeatedly', async () => {
    const job = await pawl.ingest(Array(1000).fill('http://a.example/b'), { corpus: 'web' });
    assert.equal((await job.summary()).itemsTotal, 1);
    await job.cancel();
  });
});
