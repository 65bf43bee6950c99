/** The rules of the gateway match those of Pawl: sizes, times, failure texts, routes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isFailureCode } from '../../src/kernel/failure/failure.ts';
import { failures } from '../../src/kernel/failure/table.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { gatewayFolder } from '../support/nginx.ts';

const mebibyte = 1024 * 1024;
const wayMs = 5_000;
const read = (name: string) => readFileSync(join(gatewayFolder, 'rules', `${name}.conf`), 'utf8');

/** The block of the location whose opening line contains the text. */
function blockOf(text: string): string {
  const routes = read('routes');
  const found = routes.split(/^location /m).find((block) => block.split('\n')[0]?.includes(text));
  assert.ok(found, `there is no location with ${text}`);
  return found;
}

function settingOf(block: string, name: string): string {
  const value = new RegExp(`^\\s*${name} ([^;]+);`, 'm').exec(block)?.[1];
  assert.ok(value, `there is no ${name}`);
  return value;
}

describe('the rules of the gateway', () => {
  test('accept bodies of the same size as Pawl', () => {
    const { bodyBytesMax, uploadBytesMax } = limits.request;
    const body = settingOf(read('request'), 'client_max_body_size');
    assert.equal(body, `${bodyBytesMax / mebibyte}m`);
    const callback = settingOf(blockOf('complete|begin'), 'client_max_body_size');
    assert.equal(callback, `${limits.handoff.bodyBytesMax / mebibyte}m`);
    const upload = settingOf(blockOf('jobs/upload'), 'client_max_body_size');
    // A form has part headers beside its files.
    assert.equal(upload, `${uploadBytesMax / mebibyte + 1}m`);
  });

  test('wait slightly longer than Pawl works', () => {
    const { scraping, chunking, embedding } = limits.step.syncMs;
    const rows = { '/scrape': scraping, '/chunk': chunking, '/embed': embedding };
    const waits = { ...rows, '/search': limits.search.timeoutMs };
    for (const [path, ms] of Object.entries(waits)) {
      const wait = settingOf(blockOf(`^${path}`), 'proxy_read_timeout');
      assert.equal(wait, `${(ms + wayMs) / 1000}s`, path);
    }
    const upload = settingOf(blockOf('jobs/upload'), 'proxy_read_timeout');
    assert.equal(upload, `${limits.request.uploadMs / 1000}s`);
    const silence = Number.parseInt(settingOf(blockOf('stream'), 'proxy_read_timeout'), 10) * 1000;
    assert.ok(silence >= 2 * limits.event.streamCommentMs, 'a comment may be late');
  });

  test('close idle connections before Pawl does', () => {
    for (const place of ['one-machine', 'four-machines', 'compose']) {
      const file = join(gatewayFolder, 'places', place, 'upstreams.conf');
      const text = readFileSync(file, 'utf8');
      assert.equal([...text.matchAll(/keepalive \d+;/g)].length, 4, place);
      // The default of nginx is 60 s: see the limits.
      assert.ok(!text.includes('keepalive_timeout'), place);
    }
  });

  test('keep the request ids that Pawl keeps', () => {
    const most = limits.request.headerIdCharactersMax;
    assert.ok(read('request').includes(`{1,${most}}$"`));
    assert.ok(read('request').includes(`"~^.{${limits.key.charactersMax + 1},}"`));
  });

  test('use the failure codes of Pawl', () => {
    const bodies = [...read('problems').matchAll(/return (\d+) '(\{.*\})';/g)];
    assert.ok(bodies.length >= 8);
    for (const [, status, body = ''] of bodies) {
      const { code, title, type, status: told } = JSON.parse(body) as Record<string, unknown>;
      assert.ok(typeof code === 'string' && isFailureCode(code), String(code));
      const { title: ours, httpStatus } = failures[code];
      assert.deepEqual([title, told, type], [ours, httpStatus, `/docs#${code}`]);
      assert.equal(Number(status), httpStatus);
    }
  });

  test('limit every public location, by address and by key', () => {
    const blocks = read('routes')
      .split(/^location /m)
      .slice(1);
    const open = blocks.filter((block) => block.includes('proxy_pass') && !isInternal(block));
    assert.ok(open.length >= 9);
    for (const block of open) {
      const zones = [...block.matchAll(/limit_req zone=(ip|key)_\w+ burst=\d+ nodelay;/g)];
      const kinds = new Set(zones.map(([, kind]) => kind));
      assert.deepEqual([...kinds].sort(), ['ip', 'key'], block.split('\n')[0]);
    }
  });
});

function isInternal(block: string): boolean {
  return block.includes('include place/internal.conf;');
}
