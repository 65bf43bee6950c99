/** CLI output: results to stdout, everything else to stderr, colours where they are supported. */
import { once } from 'node:events';
import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  /** stderr is a terminal, so lines can be redrawn. */
  readonly isLive: boolean;
  /** stdin is a terminal, so the user can be prompted. */
  readonly isAnswering: boolean;
  readonly columns: () => number;
  /** stdout is a terminal, so a table must fit its width. */
  readonly isShown: boolean;
  /** Prints a line of the result. */
  print(line?: string): void;
  /** Writes bytes of the result. Resolves when the stream can take more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Prints a status line. */
  tell(line: string): void;
  /** Writes raw text to stderr, for redrawn lines. */
  draw(text: string): void;
  /** Styles the text if stdout shows colours. */
  paint(style: Style, text: string): string;
}

const columnsWithoutTerminal = 100;

export function openTerminal(): Terminal {
  const { stdout, stderr, stdin } = process;
  // The reader may close the pipe early, as `head` does. Then there is nothing left to do.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    isLive: stderr.isTTY === true && process.env.TERM !== 'dumb',
    isAnswering: stdin.isTTY === true && stderr.isTTY === true,
    isShown: stdout.isTTY === true,
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

/** The same without status lines and progress. */
export function quieted(terminal: Terminal): Terminal {
  return { ...terminal, isLive: false, tell: () => undefined, draw: () => undefined };
}
