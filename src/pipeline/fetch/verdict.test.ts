import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FailureCode } from '../../kernel/failure/failure.ts';
import { retryAfterMs } from '../../kernel/text/retry-after.ts';
import { failureOf } from './verdict.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

function codeOf(status: number, headers: Record<string, string> = {}, body = '') {
  return failureOf(
    {
      url: new URL('http://a.example/'),
      status,
      headers: new Map(Object.entries(headers)),
      bytes: Buffer.from(body),
      wireBytes: 0,
      isCut: false,
      redirects: [],
    },
    now,
  )?.code;
}

describe('a status', () => {
  const rows: readonly [status: number, code: FailureCode | undefined][] = [
    [200, undefined],
    [203, undefined],
    [304, undefined],
    [201, 'bad_response'],
    [204, 'bad_response'],
    [206, 'bad_response'],
    [300, 'bad_response'],
    [400, 'http_4xx'],
    [401, 'http_4xx'],
    [403, 'http_403'],
    [404, 'http_404'],
    [408, 'connection_timeout'],
    [410, 'http_410'],
    [425, 'network_error'],
    [429, 'http_429'],
    [451, 'http_4xx'],
    [500, 'http_5xx'],
    [502, 'http_5xx'],
    [503, 'http_5xx'],
    [520, 'http_5xx'],
    [599, 'http_5xx'],
  ];
  for (const [status, code] of rows) {
    test(`${status} is ${code ?? 'content'}`, () => assert.equal(codeOf(status), code));
  }
});

describe('a shield', () => {
  type Row = readonly [
    name: string,
    status: number,
    headers: Record<string, string>,
    body: string,
    code: FailureCode | undefined,
  ];
  const rows: readonly Row[] = [
    ['Cloudflare challenge', 403, { 'cf-mitigated': 'challenge' }, '', '403_waf'],
    ['Cloudflare challenge', 503, { 'cf-mitigated': 'challenge' }, '', '503_shield'],
    ['Cloudflare interstitial', 503, {}, '<title>Just a moment...</title>', '503_shield'],
    ['Cloudflare interstitial', 403, {}, '<title>Just a moment...</title>', '403_waf'],
    ['Cloudflare block', 403, {}, '<title>Attention Required! | Cloudflare</title>', '403_waf'],
    ['Turnstile', 403, {}, '<div class="cf-turnstile"></div>', 'captcha'],
    ['reCAPTCHA', 403, {}, '<div class="g-recaptcha" data-sitekey="x">', 'captcha'],
    ['reCAPTCHA', 429, {}, '<script src="https://www.google.com/recaptcha/api.js">', 'captcha'],
    ['hCaptcha', 503, {}, '<script src="https://js.hcaptcha.com/1/api.js">', 'captcha'],
    ['DataDome', 403, {}, '<script src="https://ct.captcha-delivery.com/c.js">', 'captcha'],
    ['DataDome', 403, { 'x-datadome': 'protected' }, '', '403_waf'],
    ['PerimeterX', 403, {}, '<div id="px-captcha">', 'captcha'],
    ['AWS WAF captcha', 405, { 'x-amzn-waf-action': 'captcha' }, '', 'captcha'],
    ['AWS WAF challenge', 202, { 'x-amzn-waf-action': 'challenge' }, '', '503_shield'],
    ['Sucuri', 403, { 'x-sucuri-block': 'EXP' }, '', '403_waf'],
    ['Akamai', 403, {}, 'Reference&#32;&#35;18 https://errors.edgesuite.net/18', '403_waf'],
    ['Imperva', 403, {}, '<iframe src="/_Incapsula_Resource?x">', '403_waf'],
    ['a plain refusal', 403, { server: 'nginx' }, '<h1>403 Forbidden</h1>', 'http_403'],
    ['a plain outage', 503, {}, '<h1>Down for maintenance</h1>', 'http_5xx'],
    ['a page about captchas', 200, {}, 'How g-recaptcha and cf-turnstile work', undefined],
    ['a page that is missing', 404, {}, '<div class="g-recaptcha">', 'http_404'],
  ];
  for (const [name, status, headers, body, code] of rows) {
    test(`${name} with ${status} is ${code ?? 'content'}`, () => {
      assert.equal(codeOf(status, headers, body), code);
    });
  }
});

describe('Retry-After', () => {
  const rows: readonly [header: string | undefined, ms: number | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7000],
    ['999999999', 999_999_999_000],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['-5', undefined],
    ['1.5', undefined],
    ['+5', undefined],
    ['0x10', undefined],
    ['abc', undefined],
    ['abc 2027', undefined],
    ['120, 60', undefined],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Thu Jan  1 00:01:00 2026', 60_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Thu, 99 Jan 2026 00:01:00 GMT', undefined],
    ['Thu, 01 Foo 2026 00:01:00 GMT', undefined],
    ['2026-01-01T00:01:00Z', undefined],
  ];
  for (const [header, ms] of rows) {
    test(`${JSON.stringify(header)?.slice(0, 40)} is ${ms}`, () => {
      assert.equal(retryAfterMs(header, now), ms);
    });
  }

  test('comes with the failure', () => {
    const failure = failureOf(
      {
        url: new URL('http://a.example/'),
        status: 429,
        headers: new Map([['retry-after', '30']]),
        bytes: new Uint8Array(),
        wireBytes: 0,
        isCut: false,
        redirects: [],
      },
      now,
    );
    assert.equal(failure?.retryAfterMs, 30_000);
  });
});
