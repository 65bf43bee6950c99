import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import Fastify from 'fastify';
import type { Event } from '../../observe/event.ts';
import { loggerOptions, logTransitions } from './logger.ts';

test('a line contains no pid, host or folder of the machine', () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const { log } = Fastify({ logger: loggerOptions({ level: 'info', write }) });
  log.info({ job_id: 'j' }, 'accepted');
  log.error({ err: Object.assign(new Error('/home/ada/x'), { code: 'ENOSPC' }) }, 'it failed');
  const [info, failed] = lines.map((line) => JSON.parse(line));
  assert.deepEqual(Object.keys(info), ['level', 'time', 'job_id', 'msg']);
  assert.deepEqual([failed.err.type, failed.err.message], ['Error', 'ENOSPC']);
  assert.match(failed.err.stack, /^\s+at .*src\/http\/log\/logger\.test\.ts:\d+/);
  const all = lines.join('');
  assert.equal(all.includes(process.cwd()) || all.includes(hostname()), false);
});

test('a line of a job has the from, to, reason and attempt of the move', () => {
  const lines: object[] = [];
  const log = { info: (fields: object) => void lines.push(fields), debug: () => undefined };
  const detail = { from: 'retry_pending', to: 'running', reason: 'the time of a retry has come' };
  const event: Event = { seq: 1, at: 0, kind: 'job_started', jobId: 1, attempt: 3, detail };
  logTransitions(log, [{ event, caller: 'ann', jobKey: 'k', isEnd: false, text: () => '' }]);
  assert.deepEqual(lines, [{ job_id: 'k', ...detail, attempt: 3 }]);
});
