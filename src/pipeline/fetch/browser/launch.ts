/**
 * Starts a Chromium without a network. Every request of a page is intercepted and answered by us
 * (`visit.ts`). A request that bypasses this, by a defect or by a new web feature, finds a proxy
 * that does not exist, no name that resolves, and no UDP.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserServer } from 'playwright-core';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';

/** Port 9 is discard; and no name, not even this one, is looked up. */
const withoutNetwork = [
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
];

const alone = [
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-client-side-phishing-detection',
  '--disable-sync',
  '--disable-crash-reporter',
  `--js-flags=--max-old-space-size=${limits.browser.scriptMemoryMib}`,
];

export interface BrowserProcess {
  readonly pid: number;
  readonly browser: Browser;
  /** Kills the process and waits for its end. */
  kill(): Promise<void>;
}

/** Environment variables that the browser gets: no key, no setting. */
const environmentKept = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

export async function launchBrowser(executable: string): Promise<BrowserProcess> {
  const { chromium } = await loadPlaywright();
  const environment = environmentKept.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const server = await chromium
    .launchServer({
      executablePath: executable,
      headless: true,
      // Chromium refuses to run its sandbox as root.
      chromiumSandbox: process.getuid?.() !== 0,
      args: [...withoutNetwork, ...alone],
      env: Object.fromEntries(environment),
      timeout: limits.browser.launchMs,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
    .catch((error: unknown) => {
      throw new Failure('browser_crash', `${executable} did not start`, { cause: error });
    });
  return { pid: pidOf(server), browser: await connectTo(server), kill: () => server.kill() };

  async function connectTo(started: BrowserServer): Promise<Browser> {
    try {
      return await chromium.connect(started.wsEndpoint(), { timeout: limits.browser.launchMs });
    } catch (error) {
      await started.kill();
      throw new Failure('browser_crash', `${executable} does not answer`, { cause: error });
    }
  }
}

function pidOf(server: BrowserServer): number {
  return server.process().pid ?? 0;
}

/** The package is optional, and loaded only when a page is rendered. */
async function loadPlaywright(): Promise<typeof import('playwright-core')> {
  return import('playwright-core');
}

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const places = [
  '/usr/bin',
  '/usr/local/bin',
  '/snap/bin',
  '/opt/google/chrome',
  '/opt/homebrew/bin',
  '/Applications/Chromium.app/Contents/MacOS',
];

/** The path of the configured browser; a wrong path fails at the start, not at the first page. */
export function findBrowser(
  setting: string,
  path: string = process.env.PATH ?? '',
): string | undefined {
  if (setting === 'off') return undefined;
  checkPlaywright();
  if (setting !== 'auto') {
    if (existsSync(setting)) return setting;
    const message = `there is no browser at ${setting}: set PAWL_BROWSER to a Chromium, or to off`;
    throw new Failure('usage_error', message);
  }
  const folders = [...path.split(delimiter).filter((folder) => folder !== ''), ...places];
  const found = folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
  if (found !== undefined) return found;
  const message =
    'no Chromium was found on this machine: install one, set PAWL_BROWSER to its path, or to off';
  throw new Failure('usage_error', message);
}

function checkPlaywright(): void {
  try {
    import.meta.resolve('playwright-core');
  } catch (error) {
    const message =
      'PAWL_BROWSER is set, and the package playwright-core is not installed: ' +
      'run `npm install playwright-core`, or set PAWL_BROWSER to off';
    throw new Failure('usage_error', message, { cause: error });
  }
}
