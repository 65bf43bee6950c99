/** `pawl open`: the workbench in the browser, of a running service or of one that it starts. */
import { spawn } from 'node:child_process';
import { answer, type Call, type Command, serviceOf } from '../../command.ts';
import { listenOptions, serveUntilStopped } from '../serve.ts';

export const open: Command = {
  name: 'open',
  summary: 'open the workbench in the browser; starts the service if none is running',
  usage: ['open [--url URL] [--host HOST] [--port PORT] [--no-browser]'],
  options: {
    ...listenOptions,
    'no-browser': { type: 'boolean', meaning: 'only print the address' },
    'no-sample': { type: 'boolean', meaning: 'do not ingest the samples into an empty store' },
  },
  examples: ['pawl open', 'pawl open --url https://pawl.example.com'],
  run: async (call) => {
    const named = serviceOf(call)?.url;
    const url = named ?? addressOf(call);
    if (named !== undefined) await checkService(url, call.interrupt);
    else if (!(await isPawl(url, call.interrupt))) return startAndShow(call);
    return show(call, url);
  },
};

/** The address where a service with these settings listens. */
function addressOf({ config: { host, port } }: Call): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function show(call: Call, url: string): Promise<number> {
  const isOpened = call.flags['no-browser'] !== true && (await openBrowser(url));
  return answer(call, { url, opened: isOpened }, () => call.terminal.print(url));
}

/** Serves until Ctrl-C, as `pawl serve` does, which also prints the address. */
function startAndShow(call: Call): Promise<number> {
  return serveUntilStopped(call, (address) => {
    if (call.flags['no-browser'] !== true) void openBrowser(address);
  });
}

const probeMs = 2000;

async function checkService(url: string, interrupt: AbortSignal): Promise<void> {
  const { Client } = await import('../../../client/http.ts');
  const signal = AbortSignal.any([interrupt, AbortSignal.timeout(probeMs)]);
  await new Client({ url }).ask('GET /healthz', { signal });
}

/** False if nothing answers there, or another program: then listening there fails with advice. */
async function isPawl(url: string, interrupt: AbortSignal): Promise<boolean> {
  try {
    await checkService(url, interrupt);
    return true;
  } catch {
    interrupt.throwIfAborted();
    return false;
  }
}

/** False if this machine has no browser that a person could see. */
export async function openBrowser(
  url: string,
  { platform, env }: Pick<NodeJS.Process, 'platform' | 'env'> = process,
): Promise<boolean> {
  const command = browserCommand(url, { platform, env });
  if (command === undefined) return false;
  const [program, ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
    child.unref();
  });
}

/** The program that opens an address, with its arguments. */
export function browserCommand(
  url: string,
  { platform, env }: Pick<NodeJS.Process, 'platform' | 'env'>,
): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open', url];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  const hasScreen = [env.DISPLAY, env.WAYLAND_DISPLAY, env.BROWSER].some(Boolean);
  return hasScreen ? ['xdg-open', url] : undefined;
}
