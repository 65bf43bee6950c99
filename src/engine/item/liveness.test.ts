import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../../test/support/wait.ts';
import { thisProcess } from './liveness.ts';

test('this process is alive, and a process with another start time is a different one', () => {
  const { pid, processStarted, isAlive } = thisProcess();
  assert.equal(isAlive(pid, processStarted), true);
  assert.equal(isAlive(pid, `${processStarted}0`), false);
});

test('a zombie process counts as dead', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux reports it');
  // The shell becomes a program that never reaps its child. Before that, it would reap it.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600']);
  t.after(() => parent.kill('SIGKILL'));
  const pid = Number(String((await once(parent.stdout, 'data'))[0]));
  const name = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim();
  await until(() => name() === 'sleep', { what: 'the shell to become sleep' });
  process.kill(pid, 'SIGKILL');
  const fields = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  await until(() => fields()[0] === 'Z', { what: 'the child to die' });
  assert.equal(thisProcess().isAlive(pid, fields()[19] ?? ''), false);
});
