/** Where the CLI writes: results to stdout, everything else to stderr, colours where they help. */
import { once } from 'node:events';
import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  /** Somebody is watching stderr, and lines can be drawn over. */
  readonly isLive: boolean;
  /** Somebody can be asked. */
  readonly isAnswering: boolean;
  readonly columns: () => number;
  /** A line of the result. */
  print(line?: string): void;
  /** Bytes of the result; resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  /** A line about what is going on. */
  tell(line: string): void;
  /** Raw text on stderr, for what is drawn over. */
  draw(text: string): void;
  /** Text in a style, if stdout shows colours. */
  paint(style: Style, text: string): string;
}

const columnsWithoutTerminal = 100;

export function openTerminal(): Terminal {
  const { stdout, stderr, stdin } = process;
  // Whoever reads our output may leave early, as `head` does: there is nobody left to write for.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    isLive: stderr.isTTY === true && process.env.TERM !== 'dumb',
    isAnswering: stdin.isTTY === true && stderr.isTTY === true,
    columns: () => stdout.columns ?? stderr.columns ?? columnsWithoutTerminal,
    print: (line = '') => void stdout.write(`${line}\n`),
    write: async (bytes) => {
      if (!stdout.write(bytes)) await once(stdout, 'drain');
    },
    tell: (line) => void stderr.write(`${line}\n`),
    draw: (text) => void stderr.write(text),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}
