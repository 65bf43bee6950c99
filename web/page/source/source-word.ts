/** Words for sources and their runs. */
import { syncRunState } from '../../../src/kernel/lifecycle/sync-run.ts';
import { syncSourceState } from '../../../src/kernel/lifecycle/sync-source.ts';
import type { Tone } from '../../part/job-badge.ts';
import { count } from '../../part/wording.ts';
import { isWorked, type Run, type Source } from './source-query.ts';

interface Label {
  readonly tone: Tone;
  readonly name: string;
}

const states: Readonly<Record<Source['state'], Label>> = {
  active: { tone: 'ok', name: 'Following' },
  failing: { tone: 'bad', name: 'Failing' },
  paused: { tone: 'plain', name: 'Paused' },
  removed: { tone: 'plain', name: 'Removed' },
};

const runStates: Readonly<Record<Run['state'], Label>> = {
  listing: { tone: 'run', name: 'Listing' },
  matching: { tone: 'run', name: 'Comparing' },
  applying: { tone: 'run', name: 'Applying' },
  held: { tone: 'warn', name: 'Removals held' },
  succeeded: { tone: 'ok', name: 'Done' },
  partial: { tone: 'warn', name: 'Partial' },
  failed: { tone: 'bad', name: 'Failed' },
  canceled: { tone: 'plain', name: 'Canceled' },
};

/** What a person must know first: that removals wait, or that it runs now. */
export function labelOf({ state, last_run }: Source): Label {
  const isShown = last_run && (last_run.state === syncRunState.held || isWorked(last_run));
  return isShown && state !== syncSourceState.failing ? runLabelOf(last_run) : states[state];
}

export const runLabelOf = ({ state, is_plan }: Run): Label =>
  is_plan && state === syncRunState.succeeded
    ? { tone: 'plain', name: 'Dry run' }
    : runStates[state];

const kinds: Readonly<Record<string, string>> = {
  folder: 'Folder',
  urls: 'Pages',
  site: 'Site',
  feed: 'Feed',
  git: 'Repository',
  bucket: 'Bucket',
};

export const kindName = (kind: string): string => kinds[kind] ?? kind;

const causes: Readonly<Record<Run['cause'], string>> = {
  schedule: 'by schedule',
  request: 'on request',
  watch: 'by a file event',
  webhook: 'by a webhook',
};

export const causeOf = ({ cause }: Run): string => causes[cause];

/** Such as "2 added, 1 removed, 40 unchanged". */
export function foundOf(run: Run): string {
  const { found, listed, state } = run;
  const parts = Object.entries(found)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => `${count(number)} ${kind}`);
  if (parts.length > 0) return parts.join(', ');
  if (state === syncRunState.failed) return 'nothing was compared';
  return isWorked(run) ? `${count(listed)} listed so far` : 'no changes';
}
