import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../../kernel/failure/failure.ts';
import { canonicalUrl, gateOf, readUrl } from './url.ts';

describe('a URL is refused', () => {
  const refused: readonly [text: string, why: RegExp][] = [
    ['file:///etc/passwd', /file: addresses/],
    ['gopher://127.0.0.1:6379/_FLUSHALL', /gopher: addresses/],
    ['ftp://example.com/', /ftp: addresses/],
    ['data:text/html,hello', /data: addresses/],
    ['javascript:alert(1)', /javascript: addresses/],
    ['blob:https://example.com/1', /blob: addresses/],
    ['http://user:secret@example.com/', /user name or a password/],
    ['http://user@example.com/', /user name or a password/],
    ['http://example.com@127.0.0.1/', /user name or a password/],
    ['http://256.256.256.256/', /not a URL/],
    ['http://xn--/', /host that can exist/],
    ['http://exa\0mple.com/', /not a URL/],
    ['http://exa mple.com/', /not a URL/],
    ['example.com', /not a URL/],
    ['', /not a URL/],
    [`http://${'a'.repeat(64)}.com/`, /host that can exist/],
    [`http://${'a.'.repeat(127)}com/`, /host that can exist/],
    ['http://a..b/', /host that can exist/],
    [`http://example.com/${'a'.repeat(8192)}`, /8211 characters, and 8192/],
  ];
  for (const [text, why] of refused) {
    test(JSON.stringify(text.slice(0, 60)), () => {
      assert.throws(
        () => readUrl(text),
        (error) =>
          error instanceof Failure &&
          error.code === 'invalid_url' &&
          why.test(error.message) &&
          !error.message.includes('secret'),
      );
    });
  }
});

describe('the canonical form', () => {
  const forms: readonly [text: string, canonical: string][] = [
    ['HTTP://EXAMPLE.com:80/a', 'http://example.com/a'],
    ['https://example.com:443', 'https://example.com/'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['http://example.com./a#part', 'http://example.com/a'],
    ['http://example.com.:8080/a', 'http://example.com:8080/a'],
    ['http://example.com/a/../b/./c', 'http://example.com/b/c'],
    ['http://example.com/%7euser/%c3%a9', 'http://example.com/~user/%C3%A9'],
    ['http://example.com/%2F%3f', 'http://example.com/%2F%3F'],
    ['http://example.com/é?q=ü', 'http://example.com/%C3%A9?q=%C3%BC'],
    ['http://example.com/?', 'http://example.com/'],
    ['http://example.com/?b=2&a=1', 'http://example.com/?b=2&a=1'],
    ['http://example.com/?utm_source=x&a=1&UTM_Medium=y', 'http://example.com/?a=1'],
    ['http://example.com/?gclid=1&fbclid=2&mc_eid=3', 'http://example.com/'],
    [
      'http://example.com/?my_utm_source=1&gclidx=2',
      'http://example.com/?my_utm_source=1&gclidx=2',
    ],
    ['http://example.com/?a=1&&b', 'http://example.com/?a=1&b'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['http://exаmple.com/', 'http://xn--exmple-4nf.com/'],
    ['http://example.com\\@127.0.0.1/', 'http://example.com/@127.0.0.1/'],
  ];
  for (const [text, canonical] of forms) {
    test(`of ${text} is ${canonical}`, () => {
      assert.equal(canonicalUrl(readUrl(text)), canonical);
      assert.equal(canonicalUrl(readUrl(canonical)), canonical);
    });
  }
});

describe('the gate', () => {
  const gates: readonly [url: string, gate: string][] = [
    ['https://www.example.co.uk/a', 'example.co.uk'],
    ['https://docs.example.com:8443/', 'example.com'],
    ['https://someone.github.io/', 'someone.github.io'],
    ['http://127.0.0.1:4010/', '127.0.0.1'],
    ['http://[::1]:4010/', '[::1]'],
    ['http://localhost:4010/', 'localhost'],
  ];
  for (const [url, gate] of gates) {
    test(`of ${url} is ${gate}`, () => assert.equal(gateOf(new URL(url)), gate));
  }
});
