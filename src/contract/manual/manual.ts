/**
 * What a person or a language model reads about each route: a description, and an example of the
 * request and of the response. A test validates every example against the schemas of its route.
 */
import { corporaManual } from './corpora.ts';
import { jobsManual } from './jobs.ts';
import { serviceManual } from './service.ts';
import { sourcesManual } from './sources.ts';
import { workManual } from './work.ts';

export interface Manual {
  /** Two to five sentences: what the call does, what it returns, when to use another one. */
  readonly description: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly answer: unknown;
}

export const manual: Readonly<Record<string, Manual>> = {
  ...jobsManual,
  ...corporaManual,
  ...sourcesManual,
  ...workManual,
  ...serviceManual,
};
