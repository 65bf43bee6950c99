/** The settings by which services in different processes find each other. */
import { isHttpUrl, listOf } from './forms.ts';

export const roleNames = ['all', 'orchestrator', 'scraper', 'chunking', 'embedding'] as const;

export type RoleName = (typeof roleNames)[number];

export interface ServiceConfig {
  readonly role: RoleName;
  readonly orchestratorUrl: string | undefined;
  readonly chunkingUrl: string | undefined;
}

const httpForm = 'an http or https address such as http://127.0.0.1:7300';

const http = (variable: `PAWL_${string}`, meaning: string) => ({
  variable,
  initial: undefined,
  form: httpForm,
  meaning,
  parse: (text: string) => (isHttpUrl(text) ? text : undefined),
});

export const serviceSettings = {
  role: {
    variable: 'PAWL_ROLE',
    flag: '--role',
    initial: 'all' as RoleName,
    form: `one of ${roleNames.join(', ')}`,
    meaning: 'Which part of Pawl `pawl serve` runs; `all` needs no other process.',
    parse: (text: string) => roleNames.find((name) => name === text),
  },
  orchestratorUrl: http('PAWL_ORCHESTRATOR_URL', 'Where scraper and embedding call back.'),
  chunkingUrl: {
    ...http(
      'PAWL_CHUNKING_URL',
      'Where the orchestrator has texts cut; of several, each text goes to the next, and past ' +
        'those that are away.',
    ),
    form: 'one or several http or https addresses, with commas between',
    parse: (text: string) => (listOf(text).every(isHttpUrl) ? listOf(text).join(',') : undefined),
  },
} as const;
