/** Parses the output of strace (`-f -y -xx`) into calls that concern files. */
export type SystemCall =
  | { readonly kind: 'create' | 'folder' | 'unlink' | 'sync'; readonly path: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly bytes: Buffer;
      /** The offset of the write; undefined for the end of the file. */
      readonly offset: number | undefined;
    };

export const tracedCalls =
  'openat,write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,mkdir';

export function parseTrace(text: string): SystemCall[] {
  return [...wholeLines(text)].flatMap((line) => parseLine(line) ?? []);
}

/** A call interrupted by another thread is on two lines; it took effect by the second. */
function* wholeLines(text: string): Generator<string> {
  const unfinished = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [thread = ''] = line.split(' ', 1);
    const resumed = /<\.\.\. \w+ resumed>/.exec(line);
    if (line.endsWith('<unfinished ...>')) {
      unfinished.set(thread, line.slice(0, -'<unfinished ...>'.length));
    } else if (resumed) {
      const rest = line.slice(resumed.index + resumed[0].length);
      yield `${unfinished.get(thread) ?? ''}${rest}`;
    } else {
      yield line;
    }
  }
}

function parseLine(line: string): SystemCall | undefined {
  const [, name = '', args = '', result = ''] = /^\d+ +(\w+)\((.*)\) += (-?\d+)/.exec(line) ?? [];
  if (name === '' || result.startsWith('-')) return undefined;
  const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => decode(hex));
  const path = decode(/^\d+<((?:\\x[0-9a-f]{2})*)>/.exec(args)?.[1]).toString();
  const numbers = args.split(', ').map(Number);
  switch (name) {
    case 'openat':
      if (!args.includes('O_CREAT')) return undefined;
      return { kind: 'create', path: String(strings[0]) };
    case 'mkdir':
      return { kind: 'folder', path: String(strings[0]) };
    case 'unlink':
      return { kind: 'unlink', path: String(strings[0]) };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return { kind: 'rename', from: String(strings[0]), to: String(strings[1]) };
    case 'ftruncate':
      return { kind: 'truncate', path, size: numbers.at(-1) ?? 0 };
    case 'fsync':
    case 'fdatasync':
      return { kind: 'sync', path };
    case 'write':
    case 'pwrite64': {
      const bytes = (strings[0] ?? Buffer.alloc(0)).subarray(0, Number(result));
      return { kind: 'write', path, bytes, offset: name === 'write' ? undefined : numbers.at(-1) };
    }
    default:
      return undefined;
  }
}

function decode(hex: string | undefined): Buffer {
  return Buffer.from((hex ?? '').replaceAll('\\x', ''), 'hex');
}
