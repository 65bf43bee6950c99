import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../../test/support/wait.ts';
import { thisProcess } from './liveness.ts';

test('this process is alive, and another that began at another time is not it', () => {
  const { pid, processStarted, isAlive } = thisProcess();
  assert.equal(isAlive(pid, processStarted), true);
  assert.equal(isAlive(pid, `${processStarted}0`), false);
});

test('a process that is dead, but not yet buried by its parent, is dead', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux says so');
  // The shell becomes a program that never asks how its child ended.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60']);
  t.after(() => parent.kill('SIGKILL'));
  const pid = Number(String((await once(parent.stdout, 'data'))[0]));
  const fields = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  await until(() => fields()[0] === 'Z', { what: 'the child to die' });
  assert.equal(thisProcess().isAlive(pid, fields()[19] ?? ''), false);
});
