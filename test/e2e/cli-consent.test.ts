/** Deleting and discarding need consent: typed at a terminal, or `--yes`. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadAll } from '../../src/cli/commands.ts';
import { openBench } from './api-client.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

async function filled(place: CommandRunner, flags: readonly string[] = []): Promise<void> {
  place.write('docs/cat.md', '# The cat\n\nThe cat sleeps on the harmonium.\n');
  place.write('docs/none.txt', '');
  const { code, stderr } = await place.run(['ingest', 'docs', '--corpus', 'notes', ...flags]);
  assert.equal(code, 2, stderr);
}

async function isWhole(place: CommandRunner, url: readonly string[] = []): Promise<boolean> {
  const { stdout: corpora } = await place.run(['corpora', 'documents', 'notes', ...url]);
  const { stdout: inbox } = await place.run(['inbox', ...url]);
  return /The cat/.test(corpora) && /1 document failed/.test(inbox);
}

/** Each call that deletes, discards or transfers, for a store that `filled` has made. */
const asking: readonly (readonly string[])[] = [
  ['corpora', 'delete', 'notes'],
  ['corpora', 'remove', 'notes', 'docs/cat.md'],
  ['inbox', 'discard', '--all', '--json'],
  ['inbox', 'discard', '--cause', 'empty_source', '--quiet'],
  ['callers', 'move', 'local', 'other'],
];

async function refusesAll(
  place: CommandRunner,
  calls: readonly (readonly string[])[],
  url: readonly string[] = [],
): Promise<void> {
  for (const args of calls) {
    // Piped input is not an answer.
    for (const input of ['y\n', '']) {
      const { code, stdout, stderr } = await place.run([...args, ...url], { input });
      assert.deepEqual([code, stdout], [64, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, /add --yes to confirm/);
    }
  }
  assert.ok(await isWhole(place, url));
}

test('every usage that deletes, discards, moves or overwrites has --yes', async () => {
  const lines = (await loadAll()).flatMap(({ usage }) => usage);
  const destructive = lines.filter((line) =>
    /^\S+ (?:\S+\|)?(?:delete|remove|discard|move|unlink|purge|reset)\b/.test(line),
  );
  assert.ok(destructive.length >= 5, destructive.join('; '));
  const unasked = destructive.filter((line) => !line.includes('--yes'));
  assert.deepEqual(unasked, []);
});

describe('without --yes', () => {
  test('nothing is deleted or discarded without a terminal or --yes', async (t) => {
    const place = openRunner(t);
    await filled(place);
    await refusesAll(place, asking);
    const removed = await place.run(['corpora', 'remove', 'notes', 'docs/cat.md', '--yes']);
    assert.equal(removed.stdout, 'deleted 1 document from notes\n', removed.stderr);
    await filled(place, ['--force']);
    const discarded = await place.run(['inbox', 'discard', '--all', '--yes']);
    assert.match(discarded.stdout, /discarded 2 documents/);
    const deleted = await place.run(['corpora', 'delete', 'notes', '--yes']);
    assert.match(deleted.stdout, /deleted notes with 1 document/);
  });

  test('nothing is deleted or discarded at a service either', async (t) => {
    const place = openRunner(t);
    const { service } = await openBench(t);
    const url = ['--url', service.address];
    await filled(place, url);
    const sent = asking.filter(([command]) => command !== 'callers');
    await refusesAll(place, sent, url);
  });

  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  const skip = hasTerminal ? false : 'the program `script`, which makes a terminal, is not here';
  test('a user at a terminal is asked, and only yes counts', { skip }, async (t) => {
    const place = openRunner(t);
    await filled(place);
    // Typed after the prompt, because terminals buffer earlier input.
    const typed = async (input: string): Promise<string> => {
      const command = [process.execPath, cli, 'corpora', 'delete', 'notes'].join(' ');
      const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd: place.folder });
      t.after(() => terminal.kill('SIGKILL'));
      let said = '';
      let isTyped = false;
      terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (isTyped || !said.includes('[y/N]')) return;
        isTyped = true;
        terminal.stdin.write(input);
      });
      await once(terminal, 'close');
      return said;
    };
    for (const input of ['n\r', '\u0004']) {
      assert.match(await typed(input), /Delete notes with 1 document\? \[y\/N\]/);
    }
    assert.ok(await isWhole(place));
    assert.match(await typed('y\r'), /deleted notes with 1 document/);
  });
});
