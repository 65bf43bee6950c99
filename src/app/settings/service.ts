/** The settings with the addresses of other services. */
import { isHttpUrl, listOf } from './forms.ts';

export const roleNames = ['all', 'orchestrator', 'scraper', 'chunking', 'embedding'] as const;

export type RoleName = (typeof roleNames)[number];

export interface ServiceConfig {
  readonly role: RoleName;
  readonly orchestratorUrl: string | undefined;
  readonly chunkingUrl: string | undefined;
  readonly corsOrigins: readonly string[] | undefined;
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
    meaning: 'The role of `pawl serve`; `all` needs no other process.',
    parse: (text: string) => roleNames.find((name) => name === text),
  },
  orchestratorUrl: http(
    'PAWL_ORCHESTRATOR_URL',
    'The address that scraper and embedding services call back.',
  ),
  chunkingUrl: {
    ...http(
      'PAWL_CHUNKING_URL',
      'The chunking service of the orchestrator. Several are used in turn; unreachable ' +
        'ones are skipped.',
    ),
    form: 'one or several http or https addresses, separated by commas',
    parse: (text: string) => (listOf(text).every(isHttpUrl) ? listOf(text).join(',') : undefined),
  },
  corsOrigins: {
    variable: 'PAWL_CORS_ORIGINS',
    initial: undefined,
    form: 'origins such as https://app.example.com, separated by commas, or *',
    meaning:
      'The origins whose pages may use the HTTP API from a browser (CORS). Without it, only the ' +
      'own pages. `*` needs API keys.',
    parse: (text: string) => {
      const origins = listOf(text);
      const isOrigin = (entry: string): boolean =>
        isHttpUrl(entry) && new URL(entry).origin === entry;
      return origins.every((entry) => entry === '*' || isOrigin(entry)) ? origins : undefined;
    },
  },
} as const;
