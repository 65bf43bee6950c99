import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { realWorld } from '../app/world.ts';
import type { UsedBlobs } from './blob.ts';
import { openBlobDirectory } from './directory.ts';

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

function setup(t: TestContext) {
  const directory = temporaryDirectory(t);
  const blobs = openBlobDirectory(directory, realWorld());
  const pathOf = (key: string): string => join(directory, key.slice(0, 2), key);
  const age = (path: string): void => utimesSync(path, 1, 1);
  /** Stores a blob with an old timestamp. */
  const putLongAgo = async (text: string): Promise<string> => {
    const key = await blobs.put(bytesOf(text));
    age(pathOf(key));
    return key;
  };
  const sweep = async (used: UsedBlobs, limit = 100): Promise<number> => {
    let removed = 0;
    for (let part = 0; part < blobs.parts; part += 1) {
      removed += await blobs.sweep({ part, before: 60_000, limit, used });
    }
    return removed;
  };
  return { blobs, directory, pathOf, age, putLongAgo, sweep };
}

const using =
  (...used: string[]): UsedBlobs =>
  async (keys) =>
    new Set(keys.filter((key) => used.includes(key)));

/** Two texts whose keys have the same prefix, so that they share a folder. */
function neighbours(): [string, string] {
  const folderOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 2);
  for (let at = 1; ; at += 1) if (folderOf(`${at}`) === folderOf('0')) return ['0', `${at}`];
}

describe('a sweep of blobs', () => {
  test('removes only blobs that are old and unused', async (t) => {
    const { blobs, putLongAgo, sweep } = setup(t);
    const [used, unused] = [await putLongAgo('used'), await putLongAgo('unused')];
    const young = await blobs.put(bytesOf('young'));
    assert.equal(await sweep(using(used)), 1);
    assert.deepEqual(await blobs.get(used), Buffer.from('used'));
    assert.deepEqual(await blobs.get(young), Buffer.from('young'));
    await assert.rejects(blobs.get(unused), { code: 'source_missing' });
    assert.equal(await sweep(using(used)), 0);
  });

  test('keeps an old blob that is stored again', async (t) => {
    const { blobs, putLongAgo, sweep } = setup(t);
    const key = await putLongAgo('again');
    assert.equal(await blobs.put(bytesOf('again')), key);
    assert.equal(await sweep(using()), 0);
  });

  test('keeps a blob that is stored again while it is being removed', async (t) => {
    const { blobs, pathOf, putLongAgo, sweep } = setup(t);
    const key = await putLongAgo('in that moment');
    let questions = 0;
    const used: UsedBlobs = async (keys) => {
      // The second usage query comes after the blob was set aside.
      if (keys.includes(key) && questions++ > 0) await blobs.put(bytesOf('in that moment'));
      return new Set();
    };
    await sweep(used);
    assert.equal(questions, 2);
    assert.ok(existsSync(pathOf(key)));
  });

  test('restores a blob that is used at the second check', async (t) => {
    const { blobs, putLongAgo, sweep } = setup(t);
    const key = await putLongAgo('late');
    let questions = 0;
    const used: UsedBlobs = async (keys) =>
      keys.includes(key) && questions++ > 0 ? new Set([key]) : new Set();
    assert.equal(await sweep(used), 0);
    assert.deepEqual(await blobs.get(key), Buffer.from('late'));
  });

  test('loses no used blob when it is interrupted', async (t) => {
    const { blobs, pathOf, putLongAgo, sweep } = setup(t);
    const key = await putLongAgo('half removed');
    let questions = 0;
    const dying: UsedBlobs = async (keys) => {
      if (keys.includes(key) && questions++ > 0) throw new Error('the process is killed here');
      return new Set();
    };
    await assert.rejects(sweep(dying), /killed here/);
    assert.equal(existsSync(pathOf(key)), false, 'it is set aside');
    assert.equal(await sweep(using(key)), 0);
    assert.deepEqual(await blobs.get(key), Buffer.from('half removed'));
    questions = 0;
    await assert.rejects(sweep(dying), /killed here/);
    await sweep(using());
    await assert.rejects(blobs.get(key), { code: 'source_missing' });
  });

  test('removes the old leftovers of a killed write', async (t) => {
    const { blobs, pathOf, age, sweep } = setup(t);
    const key = await blobs.put(bytesOf('whole'));
    const [old, young] = [`${pathOf(key)}.1.part`, `${pathOf(key)}.2.part`];
    for (const path of [old, young]) writeFileSync(path, 'ha');
    age(old);
    await sweep(using());
    assert.deepEqual([existsSync(old), existsSync(young)], [false, true]);
  });

  test('removes the old leftovers of a killed upload', async (t) => {
    const { blobs, directory, age, sweep } = setup(t);
    const parts = () => globSync('**/*.part', { cwd: directory });
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const never = async function* () {
      yield bytesOf('half of it');
      begin();
      await new Promise(() => undefined);
    };
    void blobs.putStream(never());
    await begun;
    const [left = ''] = parts();
    await sweep(using());
    assert.deepEqual(parts(), [left]);
    age(join(directory, left));
    await sweep(using());
    assert.deepEqual(parts(), []);
  });

  test('ends at its limit and handles the rest next time', async (t) => {
    const { putLongAgo, pathOf, sweep } = setup(t);
    const keys = await Promise.all(neighbours().map(putLongAgo));
    assert.equal(await sweep(using(), 1), 1);
    assert.equal(readdirSync(join(pathOf(keys[0] ?? ''), '..')).length, 1);
    assert.equal(await sweep(using(), 1), 1);
  });

  test('skips used blobs', async (t) => {
    const { putLongAgo, sweep } = setup(t);
    const [one = ''] = await Promise.all(neighbours().map(putLongAgo));
    assert.equal(await sweep(using(one), 1), 1);
  });
});

test('a blob that cannot be read at the moment is not reported as missing', async (t) => {
  const { blobs, pathOf } = setup(t);
  const key = await blobs.put(bytesOf('whole'));
  rmSync(pathOf(key));
  await assert.rejects(blobs.getPart?.(key, { at: 0, bytes: 1 }) ?? Promise.resolve(), {
    code: 'source_missing',
  });
  mkdirSync(pathOf(key));
  await assert.rejects(blobs.get(key), { code: 'storage_failed' });
  await assert.rejects(blobs.getPart?.(key, { at: 0, bytes: 1 }) ?? Promise.resolve(), {
    code: 'storage_failed',
  });
});
