/** Runs the commands of docs/guide/services.md: four services behind a gateway. */
import assert from 'node:assert/strict';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { followGuide, root, shellBlocks, whyNotReadable } from '../support/guide.ts';
import { lastingPort, unprivilegedIdentity } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const page = 'docs/guide/services.md';
const trial = 'Four services on one machine';
const blocks = shellBlocks(page);
/** Skips package installation and clones: both are done, and tests need no network. */
const programs = blocks.filter(({ headings }) => headings.at(-1) === 'Programs');
const steps = blocks.filter((block) => !programs.includes(block));

const ports = [
  ...['POSTGRES_PORT', 'REDIS_ORCH_PORT', 'REDIS_SCRAPE_PORT', 'REDIS_EMBED_PORT'],
  ...['ORCHESTRATOR_PORT', 'CHUNKING_PORT', 'SCRAPER_PORT', 'EMBEDDING_PORT', 'GATEWAY_PORT'],
];

function whyNot(): string | false {
  if (!existsSync('/usr/lib/postgresql')) return 'the guide is for Debian and Ubuntu';
  return whyNotReadable(unprivilegedIdentity()) ?? false;
}

describe('the guide to several services', () => {
  test('has all its commands in the tested section', () => {
    assert.equal(programs.length, 1);
    for (const { headings, line } of blocks) assert.ok(headings.includes(trial), `line ${line}`);
  });

  test('lists the packages that the tests install', () => {
    const [install = ''] = /apt-get install -y .*/.exec(programs[0]?.text ?? '') ?? [];
    for (const name of ['postgresql', 'redis-server', 'nginx']) assert.ok(install.includes(name));
  });

  test('leads to an ingest and a search through the gateway', { skip: whyNot() }, async (t) => {
    const home = temporaryDirectory(t);
    symlinkSync(root, join(home, 'pawl'));
    const chosen: [string, string][] = [];
    for (const name of ports) chosen.push([name, String(await lastingPort())]);
    const environment = Object.fromEntries(chosen);
    const logs = 'pawl-trial/*.log';
    const { code, outputs, report } = await followGuide(t, steps, { home, environment, logs });
    assert.equal(code, 0, report);
    assert.equal(outputs.length, steps.length, report);
    const found =
      outputs[steps.findIndex(({ headings }) => headings.includes('Ingest and search'))];
    assert.match(found ?? '', /1 document indexed/);
    assert.match(found ?? '', /1 passage for “heron at the weir” in birds/);
    assert.match(found ?? '', /"results":\[\{[^\]]*grey heron/);
  });
});
