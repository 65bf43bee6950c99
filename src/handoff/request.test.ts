import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HandoffRequest, hashOf } from './request.ts';
import { visitRequest } from './visit-wire.ts';

const robots = { origin: 'https://example.com', status: 200, body: '', fetched_at: 1 };

function visit(more: Partial<Parameters<typeof visitRequest>[0]> = {}): HandoffRequest {
  const asked = { source: 'https://example.com/a', areRecordingsTaken: false, isParsed: true };
  return { kind: 'visit', request: visitRequest({ ...asked, ...more }) };
}

test('a visit is the same request with any known rules of its site', () => {
  const newer = { ...robots, body: 'User-agent: *', fetched_at: 2 };
  assert.equal(hashOf(visit({ robots })), hashOf(visit({ robots: newer })));
  assert.equal(hashOf(visit({ robots })), hashOf(visit()));
});

test('requests with different content are not the same', () => {
  const requests: readonly HandoffRequest[] = [
    visit(),
    visit({ source: 'https://example.com/b' }),
    visit({ areRecordingsTaken: true }),
    visit({ validators: { url: 'https://example.com/a', etag: '"1"', lastModified: null } }),
    { ...visit(), kind: 'get' },
    { ...visit(), bytes: Buffer.from('x') },
    { kind: 'get', request: { robots } },
    { kind: 'get', request: {} },
  ];
  assert.equal(new Set(requests.map(hashOf)).size, requests.length);
});
