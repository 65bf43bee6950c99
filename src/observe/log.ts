/** The log for operators: one line per message, on the given stream. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

export type LogLevel = (typeof logLevels)[number];

export interface Log {
  error(message: string, error?: unknown): void;
  warn(message: string): void;
  info(message: string): void;
  debug(message: string): void;
}

export function makeLog(level: LogLevel, write: (line: string) => void): Log {
  const isHeard = (other: LogLevel): boolean =>
    logLevels.indexOf(other) <= logLevels.indexOf(level);
  const say = (other: LogLevel) => (message: string) => {
    if (isHeard(other)) write(`pawl: ${other}: ${message}`);
  };
  return {
    error: (message, error) => say('error')(`${message}${reasonOf(error, isHeard('debug'))}`),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
  };
}

function reasonOf(error: unknown, withStack: boolean): string {
  if (error === undefined) return '';
  if (!(error instanceof Error)) return `: ${String(error)}`;
  return withStack ? `\n${error.stack ?? error.message}` : `: ${error.message}`;
}
