/**
 * The log of the service: one JSON object per line. Logged fields are named here and in the calls;
 * headers, queries, bodies and document text are never logged.
 */
import type { FastifyServerOptions } from 'fastify';
import { framesOf } from '../../observe/frames.ts';
import type { LogLevel } from '../../observe/log.ts';
import type { PublishedEvent } from '../../service/stream/news.ts';

export interface LogOptions {
  readonly level: LogLevel;
  write(line: string): void;
}

export function loggerOptions({ level, write }: LogOptions): FastifyServerOptions['logger'] {
  return {
    level,
    stream: { write },
    // Without pid and host: log collectors add them.
    base: null,
    // A second safeguard: callers should not pass these at all.
    redact: {
      paths: [
        '*.authorization',
        '*.cookie',
        '*["x-api-key"]',
        '*.api_key',
        '*.password',
        '*.token',
      ],
      censor: 'hidden',
    },
    serializers: {
      req: (request: { method?: string }) => ({ method: request.method }),
      res: (reply: { statusCode?: number }) => ({ status: reply.statusCode }),
      err: errorShape,
    },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
}

/** An error by its name and stack position, because its message may quote private input. */
function errorShape(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: '' };
  const { name, stack = '' } = error;
  const code = (error as { code?: unknown }).code;
  return {
    type: name,
    message: typeof code === 'string' ? code : '',
    stack: framesOf(stack),
  };
}

interface TransitionLog {
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** Every transition, as in the history; those of items only at debug level. */
export function logTransitions(log: TransitionLog, published: readonly PublishedEvent[]): void {
  for (const { event, jobKey } of published) {
    const { kind, itemId, step, attempt, worker, detail = {} } = event;
    const { from, to, reason, code } = detail;
    const fields = {
      job_id: jobKey,
      ...(itemId != null && { item_id: itemId, step }),
      from: from ?? null,
      to: to ?? step ?? null,
      reason: reason ?? code ?? kind,
      attempt: attempt ?? 1,
      ...(worker != null && { worker_id: worker }),
    };
    if (kind.startsWith('job_')) log.info(fields, kind);
    else log.debug(fields, kind);
  }
}
