import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { until } from '../../test/support/wait.ts';
import { watchFolder } from './watch-folder.ts';

const skip = process.platform === 'linux' ? false : 'only Linux has no recursive watch of its own';

function setup(t: { after(release: () => void): void }) {
  const root = join(temporaryDirectory(t), 'docs');
  mkdirSync(join(root, 'a', 'b'), { recursive: true });
  let events = 0;
  const polling: string[] = [];
  const stop = watchFolder(root, {
    // Only events count here.
    world: { setTimer: () => () => undefined },
    onChange: () => {
      events += 1;
    },
    onPolling: (reason) => polling.push(reason),
  });
  t.after(stop);
  /** Repeats it until there are more events than folders themselves can have caused. */
  const isTold = async (what: string, change: () => void): Promise<void> => {
    const before = events;
    await until(
      () => {
        change();
        return events > before + 20;
      },
      { what: `an event for ${what}` },
    );
  };
  const write = (path: string) => () => writeFileSync(join(root, path), String(events));
  return { root, polling, isTold, write };
}

describe('a watched folder', { skip }, () => {
  test('tells of files in each folder below it, and of new, renamed and old folders', async (t) => {
    const { root, isTold, write, polling } = setup(t);
    await isTold('a file of the folder', write('one.md'));
    await isTold('a file below it', write('a/b/two.md'));
    mkdirSync(join(root, 'new', 'inner'), { recursive: true });
    await isTold('a file of a new folder', write('new/inner/three.md'));
    renameSync(join(root, 'new'), join(root, 'other'));
    await isTold('a file of a renamed folder', write('other/inner/three.md'));
    rmSync(join(root, 'other'), { recursive: true });
    mkdirSync(join(root, 'other', 'inner'), { recursive: true });
    await isTold('a file of a folder that came back', write('other/inner/three.md'));
    assert.deepEqual(polling, []);
  });

  test('is polled once it has been exchanged', async (t) => {
    const { root, polling, write, isTold } = setup(t);
    await isTold('a file', write('one.md'));
    renameSync(root, `${root}.away`);
    mkdirSync(root);
    const elsewhere = (): void => writeFileSync(join(`${root}.away`, `${polling.length}`), '');
    await until(
      () => {
        elsewhere();
        rmSync(join(`${root}.away`, `${polling.length}`), { force: true });
        return polling.length > 0;
      },
      { what: 'polling' },
    );
    assert.deepEqual(polling, ['ENOENT']);
  });
});
