/** The guide of the library: its examples run, and no call is missing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from '../support/guide.ts';
import { callsOf, libraryProgram } from '../support/library-guide.ts';
import { patience } from '../support/patience.ts';
import { temporaryDirectory } from '../support/temporary.ts';

describe('the guide of the library', () => {
  test('is a program that runs to its end', (t) => {
    const folder = temporaryDirectory(t);
    const program = libraryProgram().replace("'pawl'", JSON.stringify(join(root, 'src/index.ts')));
    writeFileSync(join(folder, 'guide.mts'), program);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['guide.mts'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: patience.testMs,
    });
    assert.equal(status, 0, stderr);
    for (const shown of [/job_succeeded/, /AbortError/, /corpus_unknown/, /empty_source/]) {
      assert.match(stdout, shown);
    }
    assert.match(stdout, /succeeded 2 done, 0 failed/);
    assert.match(stdout, /Refunds .*refunds\.md/);
  });

  test('shows every call', () => {
    const page = readFileSync(join(root, 'docs/guide/library.md'), 'utf8');
    const groups = [
      'Ingesting',
      'Searching',
      'Inbox',
      'Corpora',
      'Documents',
      'Sources',
      'BatchTasks',
    ];
    const calls = [...groups, 'Pawl', 'Job', 'List', 'Preview'].flatMap(callsOf);
    assert.ok(calls.length > 40, `${calls.length} calls were found`);
    const missing = calls.filter((call) => !new RegExp(`\\b${call}\\b`).test(page));
    assert.deepEqual(missing, []);
  });

  test('describes types that come from no store', () => {
    for (const path of ['index.ts', 'app/options.ts', ...library]) {
      const text = readFileSync(join(root, 'src', path), 'utf8');
      const imported = [...text.matchAll(/from '([^']+)'/g)].map(([, from = '']) => from);
      assert.deepEqual(
        imported.filter((from) => /(?:^|\/)store\//.test(from)),
        [],
        path,
      );
    }
  });
});

const library = ['surface', 'options', 'views'].map((name) => `library/${name}.ts`);
