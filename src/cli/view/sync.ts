/** Sources and their runs on the terminal. */
import type { SyncRun, SyncSource } from '../../contract/schema/source.ts';
import { syncRunState } from '../../kernel/lifecycle/sync-run.ts';
import { syncSourceState } from '../../kernel/lifecycle/sync-source.ts';
import { printTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { ago, count, cutPath, number, printable } from './wording.ts';

export function printSources(terminal: Terminal, sources: readonly SyncSource[]): void {
  printTable(
    terminal,
    ['SOURCE', 'CORPUS', 'LOCATION', 'STATE', '>DOCUMENTS', 'SYNCED', 'SCHEDULE'],
    sources.map((source) => [
      source.name,
      source.corpus_name,
      cutPath(printable(source.location), 40),
      stateOf(terminal, source),
      number(source.documents),
      source.synced_at === null ? 'never' : ago(source.synced_at),
      source.schedule ?? 'on demand',
    ]),
  );
  for (const source of sources) printTrouble(terminal, source);
}

function stateOf(terminal: Terminal, { state, last_run }: SyncSource): string {
  if (last_run?.state === syncRunState.held) return terminal.paint('yellow', 'held');
  return state === syncSourceState.failing ? terminal.paint('red', state) : state;
}

function printTrouble(terminal: Terminal, { name, error, last_run: run }: SyncSource): void {
  if (error) {
    terminal.print();
    terminal.print(`${terminal.paint('red', name)}: ${printable(error.message)} (${error.code})`);
    terminal.print(error.advice);
  }
  if (run?.state === syncRunState.held) {
    terminal.print();
    printHeld(terminal, run);
  }
}

/** What a held run would remove, and what a person can do. */
export function printHeld(terminal: Terminal, { source, found }: SyncRun): void {
  const dim = (text: string): string => terminal.paint('dim', text);
  const what = `${count(found.removed, 'document')} would be removed`;
  terminal.print(`${terminal.paint('yellow', source)}: ${what}; a disk may not be mounted`);
  terminal.print(`${dim('list them  ')}  pawl sync history ${source} --kind removed`);
  terminal.print(`${dim('remove them')}  pawl sync apply ${source}`);
  terminal.print(`${dim('keep them  ')}  pawl sync ignore ${source}`);
}

/** One line: what a run found. */
export function runLine(terminal: Terminal, run: SyncRun): string {
  const { found, error } = run;
  const kinds = ['added', 'changed', 'moved', 'restored', 'removed', 'unchanged'] as const;
  const parts = kinds.flatMap((kind) => (found[kind] > 0 ? `${number(found[kind])} ${kind}` : []));
  const text = parts.length > 0 ? parts.join(' · ') : 'nothing found';
  const why = error ? ` · ${printable(error.message)} (${error.code})` : '';
  return `${markOf(terminal, run)} ${run.source}: ${run.is_plan ? 'would be ' : ''}${text}${why}`;
}

function markOf(terminal: Terminal, { state }: SyncRun): string {
  if (state === syncRunState.succeeded) return terminal.paint('green', '✓');
  return terminal.paint(state === syncRunState.failed ? 'red' : 'yellow', '!');
}

export function printRuns(terminal: Terminal, runs: readonly SyncRun[]): void {
  printTable(
    terminal,
    ['RUN', 'WHEN', 'STATE', 'CAUSE', '>ADDED', '>CHANGED', '>MOVED', '>REMOVED', '>UNCHANGED'],
    runs.map(({ run_id, created_at, state, cause, is_plan, found }) => [
      String(run_id),
      ago(created_at),
      is_plan ? `plan, ${state}` : state,
      cause,
      number(found.added + found.restored),
      number(found.changed),
      number(found.moved),
      number(found.removed),
      number(found.unchanged),
    ]),
  );
}
