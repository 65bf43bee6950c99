import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { notesOf, releaseChangelog, requireNext } from './release-notes.ts';

const changelog = `# Changelog

## Unreleased

### Added

- A thing.

## 0.1.0 (2026-01-01)

- The first.
`;

describe('a release', () => {
  test('moves the unreleased changes under the version and its date', () => {
    const released = releaseChangelog(changelog, '0.2.0', '2026-02-03');
    assert.match(
      released,
      /## Unreleased\n\n## 0\.2\.0 \(2026-02-03\)\n\n### Added\n\n- A thing\./,
    );
    assert.equal(notesOf(released, '0.2.0'), '### Added\n\n- A thing.\n');
    assert.equal(notesOf(released, '0.1.0'), '- The first.\n');
  });

  test('is refused without changes', () => {
    const released = releaseChangelog(changelog, '0.2.0', '2026-02-03');
    assert.throws(() => releaseChangelog(released, '0.3.0', '2026-02-04'), /no change under Unrel/);
    assert.throws(() => notesOf(changelog, '9.0.0'), /no section for 9\.0\.0/);
  });

  test('has a version that follows the present one', () => {
    assert.equal(requireNext('0.1.0', '0.1.0', []), '0.1.0');
    assert.equal(requireNext('0.9.0', '0.10.0', ['v0.9.0']), '0.10.0');
    assert.throws(() => requireNext('0.1.0', '0.1.0', ['v0.1.0']), /already tagged/);
    assert.throws(() => requireNext('0.2.0', '0.1.9', []), /older than 0\.2\.0/);
    assert.throws(() => requireNext('0.1.0', 'next', []), /MAJOR\.MINOR\.PATCH/);
    assert.throws(() => requireNext('0.1.0', undefined, []), /MAJOR\.MINOR\.PATCH/);
  });

  test('is one commit with a tag, made only from a clean main', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-release-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['scripts/release.ts', ...args], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, ...identity },
      });
    for (const name of ['release.ts', 'release-notes.ts']) {
      cpSync(fileURLToPath(new URL(name, import.meta.url)), join(folder, 'scripts', name));
    }
    writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
    writeFileSync(
      join(folder, 'package.json'),
      '{ "name": "p", "version": "0.1.0", "type": "module" }\n',
    );
    git('init', '--quiet', '--initial-branch', 'main');
    assert.match(run('0.2.0').stderr, /commit or stash/);
    git('add', '--all');
    execFileSync('git', ['commit', '--quiet', '--message', 'begin'], {
      cwd: folder,
      env: { ...process.env, ...identity },
    });
    const { status, stderr } = run('0.2.0');
    assert.equal(status, 0, stderr);
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('describe'), 'v0.2.0');
    assert.match(git('show', '--no-patch', 'v0.2.0'), /- A thing\./);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    assert.equal(version, '0.2.0');
    assert.equal(run('--notes').stdout, '### Added\n\n- A thing.\n');
  });
});

const identity = {
  GIT_AUTHOR_NAME: 'Ines',
  GIT_AUTHOR_EMAIL: 'ines@example.org',
  GIT_COMMITTER_NAME: 'Ines',
  GIT_COMMITTER_EMAIL: 'ines@example.org',
};
