/** Every command by name. A command is loaded when it runs, so that the others start faster. */
import type { Command } from './command.ts';

export interface CommandEntry {
  readonly name: string;
  load(): Promise<Command>;
}

export const commands: readonly CommandEntry[] = [
  { name: 'serve', load: async () => (await import('./command/serve.ts')).serve },
  { name: 'open', load: async () => (await import('./command/setup/open.ts')).open },
  { name: 'ingest', load: async () => (await import('./command/ingest.ts')).ingest },
  { name: 'watch', load: async () => (await import('./command/sync/watch.ts')).watch },
  { name: 'sync', load: async () => (await import('./command/sync/sync.ts')).sync },
  { name: 'search', load: async () => (await import('./command/search.ts')).search },
  { name: 'ask', load: async () => (await import('./command/ask.ts')).ask },
  { name: 'jobs', load: async () => (await import('./command/jobs.ts')).jobs },
  { name: 'inbox', load: async () => (await import('./command/inbox.ts')).inbox },
  { name: 'corpora', load: async () => (await import('./command/corpora.ts')).corpora },
  { name: 'callers', load: async () => (await import('./command/callers.ts')).callers },
  { name: 'why', load: async () => (await import('./command/why.ts')).why },
  { name: 'batch', load: async () => (await import('./command/batch.ts')).batch },
  { name: 'extract', load: async () => (await import('./command/extract.ts')).extract },
  { name: 'chunk', load: async () => (await import('./command/chunk.ts')).chunk },
  { name: 'mcp', load: async () => (await import('./command/mcp.ts')).mcp },
  { name: 'models', load: async () => (await import('./command/models.ts')).models },
  { name: 'backup', load: async () => (await import('./command/backup/backup.ts')).backup },
  { name: 'restore', load: async () => (await import('./command/backup/restore.ts')).restore },
  { name: 'config', load: async () => (await import('./command/setup/config.ts')).config },
  {
    name: 'completion',
    load: async () => (await import('./command/setup/completion.ts')).completion,
  },
  { name: 'doctor', load: async () => (await import('./command/doctor/doctor.ts')).doctor },
  { name: 'diagram', load: async () => (await import('./command/diagram.ts')).diagram },
];

/** Words that `pawl` answers itself. */
export const builtIn: readonly string[] = ['help', 'version'];

export function loadAll(): Promise<Command[]> {
  return Promise.all(commands.map(({ load }) => load()));
}
