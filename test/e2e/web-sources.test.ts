/** Sources in a real Chromium: a folder is followed, planned, held back, restored and left. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { SyncSource } from '../../src/contract/schema/source.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { untilEqual } from '../support/wait.ts';
import { draw, findProblems, openSuite, openView } from './web-browser.ts';

const suite = openSuite();

function folderOf(t: Cleanup, files: number): string {
  const folder = join(temporaryDirectory(t), 'handbook');
  mkdirSync(folder);
  for (let number = 0; number < files; number += 1) write(folder, `page-${number}.md`, 'A heron.');
  return folder;
}

function write(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, name), `# ${name}\n\n${text} It is about ${name}.\n`);
}

/** Adds a folder by the form, and waits until its first run has indexed all documents. */
async function follow(page: Page, visit: (path: string) => Promise<void>, folder: string) {
  await visit('/sources/new?kind=folder');
  await page.getByLabel('Path on the machine of the service').fill(folder);
  await page.getByLabel('Compare').selectOption('On demand');
  await page.getByText('Options').click();
  await page.getByLabel('Name', { exact: true }).fill(nameOf(folder));
  await page.getByRole('button', { name: /^Follow into/ }).click();
  await page.waitForURL(/#\/sources\/source-/);
  await page.locator('[data-run="succeeded"]').waitFor();
  await indexed(folder);
}

/**
 * The documents of the last run are indexed. A file that changes while its document waits to be
 * read is not a change: the job reads what is there.
 */
async function indexed(folder: string): Promise<void> {
  const { last_run: run } = await ask<SyncSource>(`/sources/${nameOf(folder)}`);
  for (const id of run?.job_ids ?? []) {
    await untilEqual(async () => (await ask<{ state: string }>(`/jobs/${id}`)).state, 'succeeded');
  }
}

async function ask<Body>(path: string): Promise<Body> {
  const response = await fetch(`${suite.address}${path}`);
  assert.ok(response.ok, `${path}: ${response.status}`);
  return (await response.json()) as Body;
}

const names = new Map<string, string>();

function nameOf(folder: string): string {
  const name = names.get(folder) ?? `source-${names.size}`;
  names.set(folder, name);
  return name;
}

/** How many of its documents the service has removed. */
async function removedOf(folder: string): Promise<number> {
  return (await ask<SyncSource>(`/sources/${nameOf(folder)}`)).removed;
}

describe('sources', () => {
  test('are explained when there are none, and added by a form', async (t) => {
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/sources');
    await page.getByText('No corpus follows a source yet').waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole('main').getByRole('link', { name: 'Add a source' }).first().click();
    await page.getByRole('heading', { name: 'Add a source' }).waitFor();
    for (const kind of ['Site', 'Feed', 'Folder', 'Repository', 'Bucket', 'Pages']) {
      await page.getByLabel('Kind').selectOption(kind);
      assert.ok(await page.getByRole('button', { name: /^Follow into/ }).isDisabled(), kind);
    }
    await page.getByText('Options').click();
    assert.deepEqual(await findProblems(page), []);
    const { site } = suite;
    await page.getByLabel('Addresses, one per line').fill(`${site.origin}/a\n${site.origin}/b\n`);
    await page.getByRole('button', { name: 'Follow into documents' }).click();
    await page.locator('[data-run="succeeded"]').getByText('2 added').waitFor();
    await page.locator('dt', { hasText: 'Schedule' }).locator('..').getByText('1d').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('that cannot be read say why, and what to do', async (t) => {
    const { page, visit } = await openView(t, suite);
    await visit('/sources/new?kind=folder');
    await page.getByLabel('Path on the machine of the service').fill('/absent/folder');
    await page.getByRole('button', { name: /^Follow into/ }).click();
    await page.getByRole('alert').getByText('/absent/folder').waitFor();
  });

  test('show each run as a bar, and what a run would do', async (t) => {
    const folder = folderOf(t, 12);
    const { page, visit, complaints } = await openView(t, suite);
    await follow(page, visit, folder);
    await page.getByText('12 added', { exact: true }).waitFor();
    write(folder, 'page-0.md', 'Two herons.');
    write(folder, 'new.md', 'A new heron.');
    rmSync(join(folder, 'page-1.md'));
    await page.getByRole('button', { name: 'Dry run' }).click();
    const run = page.locator('[data-run="succeeded"]');
    await run.getByText('A dry run: this is what a run would do.').waitFor();
    await run.getByText('1 added, 1 changed, 1 removed').waitFor();
    await run.getByRole('button', { name: '1 removed' }).click();
    await run.getByText('page-1.md').waitFor();
    await untilEqual(() => run.locator('.change-row').count(), 1);
    assert.equal(await removedOf(folder), 0);
    assert.equal(await page.getByRole('region', { name: 'Removed documents' }).count(), 0);
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('region', { name: 'Removed documents' }).waitFor();
    const bars = page.getByRole('group', { name: 'Runs, oldest first' }).getByRole('button');
    await untilEqual(() => bars.count(), 3);
    await bars.first().focus();
    await page.keyboard.press('Enter');
    await page.getByText('12 added', { exact: true }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole('button', { name: 'Restore it' }).click();
    await page.getByRole('region', { name: 'Removed documents' }).waitFor({ state: 'detached' });
    await visit('/sources');
    const row = page.locator(`[data-source-name="${nameOf(folder)}"]`);
    await row.getByText('Following').waitFor();
    await row.getByRole('img', { name: /^3 runs, the last: Done/ }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await draw(page, 'sources-light');
    assert.deepEqual(complaints, []);
  });

  test('hold back many removals until a person applies or ignores them', async (t) => {
    const folder = folderOf(t, 30);
    const { page, visit } = await openView(t, suite);
    await follow(page, visit, folder);
    for (let number = 0; number < 20; number += 1) rmSync(join(folder, `page-${number}.md`));
    await page.getByRole('button', { name: 'Run now' }).click();
    const held = page.getByRole('region', { name: 'Held removals' });
    await held.getByText('20 removals are held back').waitFor();
    await held.getByText('page-3.md').waitFor();
    assert.deepEqual(await findProblems(page), []);
    await held.getByRole('button', { name: 'Keep the documents' }).click();
    await held.waitFor({ state: 'detached' });
    await page.locator('[data-run="succeeded"]').waitFor();
    assert.equal(await removedOf(folder), 0);
    assert.equal(await page.getByRole('region', { name: 'Removed documents' }).count(), 0);
    rmSync(join(folder, 'page-29.md'));
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.locator('[data-run="succeeded"]').getByText('1 removed').waitFor();
    for (let number = 20; number < 29; number += 1) rmSync(join(folder, `page-${number}.md`));
    await page.getByRole('button', { name: 'Run now' }).click();
    await held.getByRole('button', { name: /^Apply/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Apply/ })
      .click();
    await held.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: '10 removed documents' }).waitFor();
  });

  test('pause, resume and are left, and their documents stay', async (t) => {
    const folder = folderOf(t, 2);
    const { page, visit } = await openView(t, suite, { width: 390 });
    await follow(page, visit, folder);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('[data-source-state="paused"]').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Run now' }).isDisabled());
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('[data-source-state="active"]').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the source' }).click();
    await page.waitForURL(/#\/sources$/);
    await page.getByText(/is no longer followed\. Its documents stay/).waitFor();
    await page.locator('[data-source-name]').first().waitFor();
    await page.locator(`[data-source-name="${nameOf(folder)}"]`).waitFor({ state: 'detached' });
  });
});
