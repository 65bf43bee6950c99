import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideOrigin, isSameHost, type OriginDecision, originOf } from './origin.ts';

const here = 'http://127.0.0.1:8080/v1';
const there = 'https://api.openai.com/v1';

const cases: readonly (readonly [
  recorded: string | undefined,
  configured: string,
  isNamed: boolean,
  isBegun: boolean,
  decision: OriginDecision,
])[] = [
  [undefined, here, true, false, 'record'],
  [undefined, there, false, false, 'record'],
  [undefined, here, true, true, 'record'],
  [undefined, there, false, true, 'unknown'],
  [here, here, true, true, 'same'],
  [here, 'http://127.0.0.1:8080/openai/', true, true, 'same'],
  [there, there, false, true, 'same'],
  [here, there, false, true, 'other'],
  [here, there, true, true, 'other'],
  [here, 'http://127.0.0.1:8081/v1', true, true, 'other'],
  [here, 'https://127.0.0.1:8080/v1', true, true, 'other'],
];

test('text is sent only to the recorded host, or to a first one', () => {
  for (const [recorded, url, isNamed, isBegun, decision] of cases) {
    const facts = { recorded, configured: { url, isNamed }, isBegun };
    assert.equal(decideOrigin(facts), decision, JSON.stringify(facts));
  }
});

test('an address is stored without a password, a query or a trailing slash', () => {
  const { url } = originOf('https://me:secret@models.example:443/v1/?key=1', true);
  assert.equal(url, 'https://models.example/v1');
  assert.ok(isSameHost(url, 'https://models.example/v2'));
});
