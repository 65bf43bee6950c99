import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { makeScratch, type Owner, removeLeftovers } from './scratch.ts';

const living = new Set([17]);
/** A host for this test alone: no other folders are checked. */
const owner = (pid: number, host = `test ${process.pid}`): Owner => ({
  host,
  pid,
  processStarted: '400',
  isAlive: (other, started) => living.has(other) && started === '400',
});

async function scratchOf(t: TestContext, of: Owner): Promise<string> {
  const path = await makeScratch(of);
  t.after(() => rmSync(path, { recursive: true, force: true }));
  mkdirSync(join(path, 'deep'));
  writeFileSync(join(path, 'deep', 'page'), 'words');
  return path;
}

test('folders of dead processes are removed, those of live ones are not', async (t) => {
  const alive = await scratchOf(t, owner(17));
  const dead = await scratchOf(t, owner(18));
  const replaced = await scratchOf(t, { ...owner(17), processStarted: '300' });
  const elsewhere = await scratchOf(t, owner(18, 'another machine'));
  await removeLeftovers(owner(17));
  assert.deepEqual(
    [alive, dead, replaced, elsewhere].map((path) => existsSync(path)),
    [true, false, false, true],
  );
});

test('a link under such a name is not followed', async (t) => {
  const kept = temporaryDirectory(t);
  writeFileSync(join(kept, 'page'), 'words');
  const dead = await scratchOf(t, owner(18));
  const link = join(dirname(dead), `${dead.split('/').at(-1)}x`);
  symlinkSync(kept, link);
  t.after(() => rmSync(link, { force: true }));
  await Promise.all([removeLeftovers(owner(17)), removeLeftovers(owner(17))]);
  assert.ok(existsSync(join(kept, 'page')));
  assert.ok(!existsSync(dead));
});
