import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../observe/event.ts';
import { logTransitions } from './logger.ts';

test('a line of a job has the from, to, reason and attempt of the move itself', () => {
  const lines: object[] = [];
  const log = { info: (fields: object) => void lines.push(fields), debug: () => undefined };
  const detail = { from: 'retry_pending', to: 'running', reason: 'the time of a retry has come' };
  const event: Event = { seq: 1, at: 0, kind: 'job_started', jobId: 1, attempt: 3, detail };
  logTransitions(log, [{ event, caller: 'ann', jobKey: 'k', isEnd: false, text: () => '' }]);
  assert.deepEqual(lines, [{ job_id: 'k', ...detail, attempt: 3 }]);
});
