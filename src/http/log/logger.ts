/**
 * The service's log: one JSON object a line. Only fields that are named here and in the calls are
 * logged; never headers, queries, bodies or the text of documents.
 */
import type { FastifyServerOptions } from 'fastify';
import { framesOf } from '../../observe/frames.ts';
import type { LogLevel } from '../../observe/log.ts';
import type { Told } from '../../service/stream/news.ts';

export interface LogOptions {
  readonly level: LogLevel;
  write(line: string): void;
}

export function loggerOptions({ level, write }: LogOptions): FastifyServerOptions['logger'] {
  return {
    level,
    stream: { write },
    // Neither pid nor host: the log collector adds where a line comes from.
    base: null,
    // The second line of defence: no caller should log these in the first place.
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

/** An error by its name and where it was thrown: its message may quote what it failed on. */
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

/** Every transition, as the history has it: those of jobs as info, those of items as debug. */
export function logTransitions(log: TransitionLog, told: readonly Told[]): void {
  for (const { event, jobKey } of told) {
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
