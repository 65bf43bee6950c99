/** Pages in a real Chromium: what it shows, and that it has no network access of its own. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import type { World } from '../../src/kernel/world.ts';
import { allowedHosts } from '../../src/pipeline/fetch/address.ts';
import { type BrowserOptions, ChromiumRenderer } from '../../src/pipeline/fetch/browser/browser.ts';
import { findBrowser } from '../../src/pipeline/fetch/browser/launch.ts';
import type { Rendered, RenderRequest } from '../../src/pipeline/fetch/browser/render.ts';
import { httpFetcher } from '../../src/pipeline/fetch/http/http.ts';
import { hangSignal } from '../support/patience.ts';
import { isAlive } from '../support/process-state.ts';
import { until } from '../support/wait.ts';
import { pagesOf, type Respond, serveWeb } from '../support/web-server.ts';

interface Setup extends Pick<BrowserOptions, 'pagesPerProcess'> {
  readonly respond?: Respond;
  readonly world?: World;
}

async function setup(t: TestContext, options: Setup = {}) {
  const { respond = pagesOf({}), world = realWorld() } = options;
  const site = await serveWeb(t, respond);
  const executable = findBrowser('auto') ?? '';
  const fetcher = httpFetcher({ world, allowed: allowedHosts([site.host]) });
  const pids: number[] = [];
  const renderer = new ChromiumRenderer({
    ...options,
    executable,
    fetcher,
    world,
    onLaunch: (pid) => pids.push(pid),
  });
  t.after(() => renderer.close());
  const show = (html: string, options: Partial<RenderRequest> = {}): Promise<Rendered> =>
    renderer.render({
      url: new URL(`${site.origin}/`),
      headers: new Map([['content-type', 'text/html']]),
      bytes: Buffer.from(html),
      signal: hangSignal(),
      admit: async () => undefined,
      ...options,
    });
  return { site, renderer, show, pids };
}

const page = (script: string): string =>
  `<!doctype html><body><div id="app"></div><script>${script}</script></body>`;
const write = (value: string): string => `app.textContent += ${value}`;

/**
 * Slower time, so that a busy machine exceeds no limit of the browser. `patience` is for pages that
 * go on after a response: on such a machine they may be silent for longer than a page that is done.
 */
function unhurried({ patience = 1 } = {}): World {
  const world = realWorld();
  const startedAt = world.now();
  const slowness = 20;
  const isLimit = (ms: number): boolean => ms > limits.browser.quietMs;
  return {
    ...world,
    now: () => startedAt + (world.now() - startedAt) / slowness,
    setTimer: (run, ms) => world.setTimer(run, (isLimit(ms) ? slowness : patience) * ms),
  };
}

const patient = (): World => unhurried({ patience: 4 });

/** Faster time for a test that would only wait. */
function hastily(quick: Readonly<Record<number, number>>): World {
  const world = realWorld();
  return { ...world, setTimer: (run, ms) => world.setTimer(run, quick[ms] ?? ms) };
}

describe('a page in a browser', () => {
  test('shows what its scripts have fetched, and is itself not fetched again', async (t) => {
    const respond = pagesOf({
      '/app.js': `fetch('/text.json').then((r) => r.json()).then((j) => { ${write('j.text')} })`,
      '/text.json': '{ "text": "the quince is ripe" }',
    });
    const { show, site } = await setup(t, { respond, world: patient() });
    const { html, requests, refused } = await show(
      '<body><div id="app"></div><script type="module" src="/app.js"></script>',
    );
    assert.match(html, /the quince is ripe/);
    assert.deepEqual(site.asked, ['/app.js', '/text.json']);
    assert.deepEqual([requests, refused], [2, 0]);
  });

  test('reports where its scripts navigated', async (t) => {
    const respond = pagesOf({ '/b': '<p>second page' });
    const { show, site } = await setup(t, { respond, world: patient() });
    const moved = await show(page(`location.href = '/b'`));
    assert.equal(moved.url.href, `${site.origin}/b`);
    assert.match(moved.html, /second page/);
    const pushed = await show(page(`history.pushState({}, '', '/c')`));
    assert.equal(pushed.url.href, `${site.origin}/c`);
  });

  test('that leads to a private address is refused for that, and is not a crash', async (t) => {
    const { show } = await setup(t, { world: patient() });
    const refused = show(page(`location.href = 'http://10.0.0.1/secret'`));
    await assert.rejects(refused, { code: 'private_address' });
  });

  test('is requested across origins only if the other side allows it', async (t) => {
    const other = await serveWeb(t, (request, response) => {
      const { origin = '' } = request.headers;
      if (request.url === '/open') response.setHeader('Access-Control-Allow-Origin', origin);
      response.end('from afar');
    });
    const world = patient();
    const allowed = allowedHosts([other.host]);
    const executable = findBrowser('auto') ?? '';
    const fetcher = httpFetcher({ world, allowed });
    const renderer = new ChromiumRenderer({ executable, fetcher, world });
    t.after(() => renderer.close());
    const ask = (path: string): string =>
      `fetch('${other.origin}${path}').then((r) => r.text(), () => ' refused')
        .then((text) => { ${write('text')} });`;
    const { html } = await renderer.render({
      url: new URL('http://a.example/'),
      headers: new Map(),
      bytes: Buffer.from(page(ask('/open') + ask('/closed'))),
      signal: hangSignal(),
      admit: async () => undefined,
    });
    assert.match(html, /from afar/);
    assert.match(html, / refused/);
  });

  test('requests readable content, and nothing else', async (t) => {
    const { show, site } = await setup(t, { world: patient() });
    const { requests, refused } = await show(`<body>
      <img src="/a.png"><video src="/b.mp4"></video><iframe src="/c"></iframe>
      <link rel="prefetch" href="/d"><link rel="icon" href="/e.ico">
      <script>
        fetch('/f', { method: 'POST', body: 'secret' }).catch(() => 0);
        navigator.sendBeacon('/g', 'secret');
        new EventSource('/h');
      </script>`);
    assert.deepEqual(site.asked, []);
    assert.ok(refused >= 6 && requests === refused, `${refused} of ${requests}`);
  });

  test('does not get what robots.txt disallows', async (t) => {
    const { show, site } = await setup(t, { respond: pagesOf({ '/app.js': write('"shown"') }) });
    const { html, refused } = await show('<div id="app"></div><script src="/app.js"></script>', {
      admit: async () => {
        throw new Failure('robots_disallowed', 'not this one');
      },
    });
    assert.doesNotMatch(html, /shown/);
    assert.deepEqual([refused, site.asked.length], [1, 0]);
  });

  test('gets a bounded number of responses', async (t) => {
    const { show, site } = await setup(t, { world: unhurried() });
    const many = limits.browser.requestsMax + 50;
    const script = `for (let at = 0; at < ${many}; at += 1) fetch('/' + at).catch(() => 0);`;
    const { requests, refused } = await show(page(script));
    assert.deepEqual([requests, refused], [many, 50]);
    assert.equal(site.asked.length, limits.browser.requestsMax);
  });

  test('does not get an endless response', async (t) => {
    const respond: Respond = (_, response) => {
      const chunk = Buffer.alloc(65_536, 'a');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    };
    const { show } = await setup(t, { respond, world: patient() });
    const { html, refused, bytes } = await show(
      page(`fetch('/').then((r) => r.text()).catch(() => { ${write('"too much"')} })`),
    );
    assert.match(html, /too much/);
    assert.deepEqual([refused, bytes], [1, 0]);
  });

  test('finds nothing that an earlier page has left', async (t) => {
    const { show } = await setup(t);
    await show(page(`localStorage.mark = 'left'; document.cookie = 'mark=left';`));
    const { html } = await show(page(write(`[localStorage.mark, document.cookie, 'end']`)));
    assert.match(html, /<div id="app">,,end<\/div>/);
  });

  test('that opens windows and dialogs is read anyway', async (t) => {
    const { show } = await setup(t);
    const script = `window.open('/b'); alert('hm'); print(); ${write('"on it goes"')}`;
    assert.match((await show(page(script))).html, /on it goes/);
  });
});

/** Ways out of a page, each to a server that must not be reached. */
const waysOut = (tcp: number, udp: number): string => {
  const place = `127.0.0.1:${tcp}`;
  return `<body>
    <img src="http://${place}/"><iframe src="http://${place}/"></iframe>
    <link rel="preconnect" href="http://${place}"><link rel="dns-prefetch" href="//${place}">
    <link rel="prefetch" href="http://${place}/"><link rel="stylesheet" href="http://${place}/">
    <form id="form" method="post" action="http://${place}/" target="frame"></form>
    <iframe name="frame"></iframe><object data="http://${place}/"></object>
    <script src="http://localhost:${tcp}/"></script>
    <script>
      const attempt = (run) => { try { return run(); } catch {} };
      const nothing = () => 0;
      attempt(() => fetch('http://${place}/').catch(nothing));
      attempt(() => fetch('http://[::ffff:127.0.0.1]:${tcp}/').catch(nothing));
      attempt(() => fetch('http://169.254.169.254/latest/meta-data/').catch(nothing));
      attempt(() => fetch('file:///etc/passwd').catch(nothing));
      attempt(() => navigator.sendBeacon('http://${place}/', 'secret'));
      attempt(() => new WebSocket('ws://${place}/'));
      attempt(() => new EventSource('http://${place}/'));
      attempt(() => window.open('http://${place}/'));
      attempt(() => document.getElementById('form').submit());
      attempt(() => navigator.serviceWorker.register('http://${place}/').catch(nothing));
      const worker = "importScripts('http://${place}/'); fetch('http://${place}/');" +
        "new WebSocket('ws://${place}/');";
      attempt(() => new Worker(URL.createObjectURL(new Blob([worker]))));
      attempt(() => new SharedWorker(URL.createObjectURL(new Blob([worker]))));
      const frame = document.body.appendChild(document.createElement('iframe'));
      for (const realm of [window, frame.contentWindow]) {
        attempt(() => new realm.WebTransport('https://127.0.0.1:${udp}/').ready.catch(nothing));
        attempt(() => {
          const peer = new realm.RTCPeerConnection({ iceServers: [
            { urls: 'stun:127.0.0.1:${udp}' },
            { urls: 'turn:${place}?transport=tcp', username: 'a', credential: 'b' },
          ] });
          peer.createDataChannel('a');
          peer.createOffer().then((offer) => peer.setLocalDescription(offer));
        });
      }
    </script>`;
};

describe('a hostile page', () => {
  test('reaches no address that was not allowed, by any way', async (t) => {
    const reached: string[] = [];
    const tcp = createServer((socket) => {
      reached.push('tcp');
      socket.destroy();
    }).listen(0, '127.0.0.1');
    const udp = createSocket('udp4');
    udp.on('message', () => reached.push('udp'));
    udp.bind(0, '127.0.0.1');
    await Promise.all([once(tcp, 'listening'), once(udp, 'listening')]);
    t.after(() => void tcp.close());
    t.after(() => void udp.close());
    const { show } = await setup(t, { world: patient() });
    const { port } = tcp.address() as AddressInfo;
    const html = waysOut(port, udp.address().port);
    // Some of the ways are open only to a page that came over TLS.
    for (const url of ['http://a.example/', 'https://a.example/']) {
      const shown = await show(html, { url: new URL(url) });
      assert.ok(shown.refused > 5, `${shown.refused} of ${shown.requests}`);
    }
    // It leads the page itself away, and so ends the visit.
    const refresh = `<meta http-equiv="refresh" content="0;url=http://127.0.0.1:${port}/">`;
    const left = show(refresh, { url: new URL('http://a.example/') });
    await assert.rejects(left, { code: 'private_address' });
    assert.deepEqual(reached, []);
  });

  test('that never settles is aborted, and the next one is shown', async (t) => {
    const quick: Record<number, number> = { [limits.browser.renderMs]: 2000 };
    const { show } = await setup(t, { world: hastily(quick) });
    await assert.rejects(show(page('for (;;);')), { code: 'timeout_soft' });
    quick[limits.browser.renderMs] = limits.browser.renderMs;
    assert.match((await show(page(write('"still here"')))).html, /still here/);
  });

  test('that crashes its process is tried again later, and the next one is shown', async (t) => {
    const { show, pids } = await setup(t, {
      respond: () => {
        for (const pid of renderersOf(pids[0] ?? 0)) process.kill(pid, 'SIGKILL');
      },
    });
    await assert.rejects(show(page(`fetch('/never')`)), { code: 'browser_crash' });
    assert.match((await show(page(write('"still here"')))).html, /still here/);
    assert.equal(pids.length, 1);
  });
});

/** The processes of the browser that run page scripts: they share its process group. */
function renderersOf(browser: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isRenderer(`/proc/${name}`, browser))
    .map(Number);
}

function isRenderer(folder: string, browser: number): boolean {
  try {
    const stat = readFileSync(`${folder}/stat`, 'utf8');
    const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`${folder}/cmdline`, 'utf8');
    return Number(group) === browser && command.includes('--type=renderer');
  } catch {
    return false; // It ended during the check.
  }
}

describe('the process of the browser', () => {
  test('is one for many pages, and ends with its owner', async (t) => {
    const { show, renderer, pids } = await setup(t);
    await Promise.all([show(page('')), show(page('')), show(page(''))]);
    const [pid = 0, ...others] = pids;
    assert.deepEqual(others, []);
    assert.ok(isAlive(pid));
    await renderer.close();
    assert.equal(isAlive(pid), false);
  });

  test('is replaced after a number of pages', async (t) => {
    const { show, pids } = await setup(t, { pagesPerProcess: 2 });
    for (let shown = 0; shown < 3; shown += 1) await show('<p>page');
    assert.equal(pids.length, 2);
    assert.equal(isAlive(pids[0] ?? 0), false);
  });

  test('is ended after a time without use', async (t) => {
    const { show, pids } = await setup(t, { world: hastily({ [limits.browser.idleMs]: 1 }) });
    await show(page(''));
    await until(() => !isAlive(pids[0] ?? 0), { what: 'the idle browser to end' });
    await show(page(''));
    assert.equal(pids.length, 2);
  });

  test('that dies is a crash of the page, and the next page gets another', async (t) => {
    const { show, pids } = await setup(t, {
      respond: () => process.kill(pids[0] ?? 0, 'SIGKILL'),
    });
    await assert.rejects(show(page(`fetch('/never')`)), { code: 'browser_crash' });
    assert.match((await show(page(write('"another"')))).html, /another/);
    assert.equal(pids.length, 2);
  });

  test('is not waited for by a canceled job', async (t) => {
    const cancel = new AbortController();
    const { show } = await setup(t, { respond: () => cancel.abort(new Failure('canceled', '-')) });
    await assert.rejects(show(page(`fetch('/')`), { signal: cancel.signal }), { code: 'canceled' });
  });

  test('that cannot be started says so', async (t) => {
    const world = realWorld();
    const fetcher = httpFetcher({ world, allowed: allowedHosts([]) });
    const renderer = new ChromiumRenderer({ executable: '/bin/false', fetcher, world });
    t.after(() => renderer.close());
    const request = {
      url: new URL('http://a.example/'),
      headers: new Map(),
      bytes: Buffer.from('a'),
      signal: hangSignal(),
      admit: async () => undefined,
    };
    await assert.rejects(renderer.render(request), { code: 'browser_crash' });
  });

  test('is detected at the start, and its absence has advice', () => {
    assert.equal(findBrowser('off'), undefined);
    assert.throws(() => findBrowser('/no/such/browser'), {
      code: 'usage_error',
      message: /PAWL_BROWSER/,
    });
  });
});
