import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, toFailure } from '../failure/failure.ts';
import { redact } from './redact.ts';

describe('a redacted address', () => {
  const rows: readonly [text: string, expected: string][] = [
    ['http://a.example/b', 'http://a.example/b'],
    ['http://a.example/?token=SECRET', 'http://a.example/?token=…'],
    ['http://a.example/?a=SECRET&b=SECRET&c', 'http://a.example/?a=…&b=…&…'],
    ['http://a.example/?SECRET', 'http://a.example/?…'],
    ['http://a.example/?a=b=SECRET#SECRET', 'http://a.example/?a=…'],
    ['http://user:SECRET@a.example/', 'http://a.example/'],
    ['http://SECRET@a.example:8080/b@c', 'http://a.example:8080/b@c'],
    ['HTTPS://A.example/?k=SECRET is text/plain', 'HTTPS://A.example/?k=… is text/plain'],
    [
      '"http://a.example/?k=SECRET" and http://b.example/?l=SECRET',
      '"http://a.example/?k=…" and http://b.example/?l=…',
    ],
    ['what? it = that', 'what? it = that'],
  ];
  for (const [text, expected] of rows) {
    test(`${text} becomes ${expected}`, () => assert.equal(redact(text), expected));
  }

  test('in a failure contains no secret, in any field', () => {
    const url = 'http://user:SECRET@a.example/?token=SECRET';
    const context = { url, status: 500 };
    const failure = new Failure('network_error', `${url} is down`, { context });
    const wrapped = toFailure(new Error(`${url} is down`));
    assert.equal(failure.message, 'http://a.example/?token=… is down');
    assert.deepEqual(failure.context, { url: 'http://a.example/?token=…', status: 500 });
    assert.doesNotMatch(wrapped.message, /SECRET/);
  });
});
