/** `pawl open`: finds or starts the service, and opens the browser. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { browserCommand } from '../../src/cli/command/setup/open.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

const noScreen = { DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '' };

describe('pawl open', () => {
  test('prints the address of a running service where there is no browser', async (t) => {
    const { service } = await openBench(t);
    const place = openRunner(t);
    const { port } = new URL(service.address);
    for (const args of [
      ['--port', port],
      ['--url', service.address],
    ]) {
      const { code, stdout, stderr } = await place.run(['open', ...args], {
        environment: noScreen,
      });
      assert.deepEqual([code, stdout, stderr], [0, `${service.address}\n`, '']);
    }
    const json = await place.run(['open', '--port', port, '--json'], { environment: noScreen });
    assert.deepEqual(JSON.parse(json.stdout), { url: service.address, opened: false });
  });

  test('starts a service if none runs, and opens its address', async (t) => {
    const place = openRunner(t);
    // Stands in for the program of the desktop: it records the address.
    const program = place.write('bin/xdg-open', '#!/bin/sh\nprintf %s "$1" > opened.txt\n');
    chmodSync(program, 0o700);
    const PATH = `${join(place.folder, 'bin')}:${process.env.PATH}`;
    const environment = { ...noScreen, DISPLAY: ':9', PATH };
    const started = place.start(['open', '--port', '0', '--no-sample'], { environment });
    const [, address] = await started.seen(/Pawl listens on (http:\/\/127\.0\.0\.1:\d+)/);
    const opened = (): string | undefined => {
      try {
        return readFileSync(join(place.folder, 'opened.txt'), 'utf8') || undefined;
      } catch {
        return undefined;
      }
    };
    assert.equal(await until(opened, { what: 'the browser' }), address);
    assert.match(await (await fetch(`${address}/`)).text(), /<html/);
    started.child.kill('SIGTERM');
    assert.equal((await started.finished).code, 0);
  });

  test('fails if the service that --url names does not answer', async (t) => {
    const args = ['open', '--url', 'http://127.0.0.1:9'];
    const { code, stderr } = await openRunner(t).run(args, { environment: noScreen });
    assert.equal(code, 1);
    assert.match(stderr, /\(network_error\)\nCheck that the service runs/);
  });

  test('uses the opener of each system', () => {
    const url = 'http://127.0.0.1:7300';
    const of = (platform: NodeJS.Platform, env = {}) => browserCommand(url, { platform, env });
    assert.deepEqual(of('darwin'), ['open', url]);
    assert.deepEqual(of('win32'), ['rundll32', 'url.dll,FileProtocolHandler', url]);
    assert.deepEqual(of('linux', { WAYLAND_DISPLAY: 'wayland-0' }), ['xdg-open', url]);
    assert.equal(of('linux'), undefined);
  });
});
