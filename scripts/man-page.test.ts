import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { loadAll } from '../src/cli/commands.ts';
import { manPage } from './man-page.ts';

const commands = await loadAll();
const page = manPage(commands, '1.2.3');

describe('the manual page', () => {
  test('has every command, usage and option of the help', () => {
    const text = page.replaceAll('\\-', '-').replace(/\\f[BIR]/g, '');
    for (const { name, usage, options = {} } of commands) {
      assert.ok(text.includes(`.SS pawl ${name}\n`), name);
      assert.equal(text.split(`.SS pawl ${name}\n`).length, 2, name);
      for (const option of Object.keys(options)) assert.ok(text.includes(`--${option}`), option);
      assert.ok(text.includes(`.B pawl ${usage[0]?.split(/[…[]/)[0]}`), name);
    }
  });

  test('has only ASCII, and no line that roff would read as a request', () => {
    assert.match(page, /^[\n -~]+$/);
    const requests = /^[.'](?!(?:TH|SH|SS|B|I|TP|PP|nf|fi)\b)/m;
    assert.doesNotMatch(page, requests);
  });

  const { status } = spawnSync('groff', ['--version']);
  test('is read by groff without a warning', { skip: status !== 0 && 'groff is missing' }, () => {
    const args = ['-man', '-Tutf8', '-ww', '-z'];
    const { stderr } = spawnSync('groff', args, { input: page, encoding: 'utf8' });
    assert.equal(stderr, '');
  });
});
