/**
 * The sandbox of a parser process: it may read Pawl's own code and the packages, write to its own
 * folder, and compute. Node denies it other files, processes and threads. If it can, the system
 * removes the network, and ends the process with its parent even in the middle of a document.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limits } from '../../../kernel/limits/limits.ts';
import { ocrFolderVariable } from '../format/image/ocr-model.ts';

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Each of these executes its command in place, so the process keeps its id. The one that ends it
 * with its parent is last, since others may reset it.
 */
const bounded = [
  ...['prlimit', `--data=${limits.parser.reservedBytesMax}`],
  ...['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'],
];

/** From strict to none: the first that works on this system is used. */
const cages: readonly (readonly string[])[] = [
  ['unshare', '--net', '--', ...bounded],
  ['unshare', '--user', '--map-current-user', '--net', '--', ...bounded],
  bounded,
];

/** The command prefix that sandboxes a process. */
export async function findCage(): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  for (const cage of cages) if (await works(cage)) return cage;
  return [];
}

async function works([command = '', ...args]: readonly string[]): Promise<boolean> {
  const probe = spawn(command, [...args, 'true'], { stdio: 'ignore', env: { PATH: systemPath } });
  // The program may be absent, or the system may forbid what it does.
  const ended = await once(probe, 'exit').catch(() => [1]);
  return ended[0] === 0;
}

const program = fileURLToPath(new URL('./parser-process.ts', import.meta.url));
const sources = fileURLToPath(new URL('../../..', import.meta.url));

export interface SandboxOptions {
  readonly cage: readonly string[];
  /** The folder that the process may write to. */
  readonly scratch: string;
  /** The URL of the module whose `parse` is called. */
  readonly module: string;
  /** The folder of the OCR model, if it is shared. */
  readonly ocrFolder: string | undefined;
}

export function commandFor(options: SandboxOptions): CommandLine {
  const { cage, scratch, module, ocrFolder } = options;
  const own = [sources, join(dirname(sources), 'package.json'), ...packageFolders()];
  const readable = [...own, ...(ocrFolder === undefined ? [] : [ocrFolder]), scratch];
  const [command = '', ...args] = [
    ...cage,
    process.execPath,
    '--permission',
    // Needed for native libraries; only the sandbox of the system limits them.
    '--allow-addons',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${scratch}`,
    `--max-old-space-size=${limits.parser.heapMib}`,
    `--max-semi-space-size=${limits.parser.semiSpaceMib}`,
    `--heap-growing-percent=${limits.parser.heapGrowingPercent}`,
    '--no-warnings',
    program,
    module,
  ];
  // None of our environment: it contains keys, proxies, and options for Node.
  const places = {
    TMPDIR: scratch,
    ...(ocrFolder !== undefined && { [ocrFolderVariable]: ocrFolder }),
  };
  return { command, args, env: { PATH: systemPath, LANG: 'C.UTF-8', ...places } };
}

/** Where Node looks for packages: next to the sources, and in every folder above. */
function packageFolders(): string[] {
  const folders: string[] = [];
  for (let folder = dirname(sources); ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules');
    if (existsSync(packages)) folders.push(packages);
    if (folder === dirname(folder)) return folders;
  }
}
