import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StoreParts, storeChecks } from './service.ts';

test('a full queue is reported, but the process stays ready', async () => {
  const max = 20;
  const count = max + 1;
  const database = { run: async () => [{ queue: 'turns', count }] };
  const { queue } = storeChecks({
    database,
    blobs: {},
    sinks: [],
    capacity: { max },
  } as unknown as StoreParts);
  assert.equal(await queue?.(), `${count} items waiting: new jobs are refused`);
});
