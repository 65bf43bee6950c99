import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aliveProcess, recordingLog } from '../../../test/support/attempt-fixture.ts';
import { type Cleanup, temporaryDirectory } from '../../../test/support/temporary.ts';
import { TestWorld } from '../../../test/support/test-world.ts';
import type { Liveness } from '../../engine/item/liveness.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { Workspaces } from './workspace.ts';

function setup(t: Cleanup) {
  const folder = join(temporaryDirectory(t), 'workspaces');
  const world = new TestWorld();
  const { log, lines } = recordingLog();
  const open = (liveness: Partial<Liveness> = {}) =>
    new Workspaces({ folder, world, log, liveness: { ...aliveProcess, ...liveness } });
  return { folder, world, lines, open, names: () => readdirSync(folder) };
}

test('a workspace is a folder that only its owner may enter', (t) => {
  const { folder, open } = setup(t);
  const workspaces = open();
  workspaces.create('one');
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(workspaces.pathOf('one')).mode & 0o777, 0o700);
});

test('a removed workspace is gone with its files, and an abandoned one keeps them', async (t) => {
  const { open, names } = setup(t);
  const workspaces = open();
  for (const id of ['one', 'two']) {
    workspaces.create(id);
    writeFileSync(join(workspaces.pathOf(id), 'text'), 'text');
  }
  workspaces.remove('one');
  workspaces.abandon('two');
  await workspaces.settled();
  assert.equal(workspaces.has('one') || workspaces.has('two'), false);
  assert.equal(names().length, 1);
});

test('a start removes workspaces of dead processes, and none of live ones', async (t) => {
  const { open, names, lines } = setup(t);
  open({ pid: 7, isAlive: () => false }).create('of-the-dead');
  open({ pid: 8 }).create('of-the-living');
  const own = open();
  own.create('own');
  const removed = await open({ isAlive: (pid) => pid !== 7 }).removeAbandoned();
  assert.equal(removed, 1);
  assert.deepEqual(
    names()
      .map((name) => name.replace(/^[^-]+-/, ''))
      .sort(),
    ['of-the-living', 'own'],
  );
  assert.ok(lines.some((line) => line.includes('removed 1 workspaces')));
});

test('a reused pid does not keep a workspace', async (t) => {
  const { open, names } = setup(t);
  open({ pid: 7, processStarted: '1' }).create('old');
  const isAlive: Liveness['isAlive'] = (_, started) => started === '2';
  assert.equal(await open({ isAlive }).removeAbandoned(), 1);
  assert.deepEqual(names(), []);
});

test('after a reboot, all workspaces of the machine are abandoned', async (t) => {
  const { open } = setup(t);
  open({ host: 'machine/first/pids' }).create('old');
  assert.equal(await open({ host: 'machine/second/pids' }).removeAbandoned(), 1);
});

test('for another machine, only workspaces that were silent for long are removed', async (t) => {
  const { open, world, folder, names } = setup(t);
  const far = open({ host: 'elsewhere/boot/pids' });
  far.create('of-far-away');
  const near = open();
  const path = join(folder, names()[0] ?? '');
  const touched = world.now() / 1000;
  utimesSync(path, touched, touched);
  await world.advance(limits.attempt.silentMsMax * 2);
  assert.equal(await near.removeAbandoned(), 0, 'its owner keeps touching it');
  far.abandon('of-far-away');
  await world.advance(limits.attempt.silentMsMax * 2);
  assert.equal(await near.removeAbandoned(), 1);
});

test('files that Pawl did not create are not touched', async (t) => {
  const { open, folder, names } = setup(t);
  mkdirSync(join(folder, 'notes'), { recursive: true });
  assert.equal(await open({ isAlive: () => false }).removeAbandoned(), 0);
  assert.deepEqual(names(), ['notes']);
});

test('without a folder, there is nothing to remove', async (t) => {
  assert.equal(await setup(t).open().removeAbandoned(), 0);
});

test('a workspace that cannot be created fails without revealing its path', (t) => {
  const { folder, open } = setup(t);
  writeFileSync(folder, 'in the way');
  assert.throws(
    () => open().create('one'),
    (error: unknown) =>
      error instanceof Failure &&
      !JSON.stringify([error.message, String(error.cause)]).includes(folder),
  );
});
