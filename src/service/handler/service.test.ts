import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Leaned, storeChecks } from './service.ts';

test('a full queue is told, and is no reason to take the process out of service', async () => {
  const max = 20;
  const count = max + 1;
  const database = { run: async () => [{ queue: 'turns', count }] };
  const { queue } = storeChecks({
    database,
    blobs: {},
    sinks: [],
    room: { max },
  } as unknown as Leaned);
  assert.equal(await queue?.(), `${count} items wait: no new jobs for now`);
});
