/** What the lines of the service's log say of the machine: nothing. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import Fastify from 'fastify';
import { loggerOptions } from './logger.ts';

test('a line has no pid, no host and no folder of the machine in it', () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const { log } = Fastify({ logger: loggerOptions({ level: 'info', write }) });
  log.info({ job_id: 'j' }, 'accepted');
  log.error({ err: Object.assign(new Error('/home/ada/x'), { code: 'ENOSPC' }) }, 'it failed');
  const [told, failed] = lines.map((line) => JSON.parse(line));
  assert.deepEqual(Object.keys(told), ['level', 'time', 'job_id', 'msg']);
  assert.deepEqual([failed.err.type, failed.err.message], ['Error', 'ENOSPC']);
  assert.match(failed.err.stack, /^\s+at .*src\/api\/logger\.test\.ts:\d+/);
  const all = lines.join('');
  assert.equal(all.includes(process.cwd()) || all.includes(hostname()), false);
});
