/** The last runs as bars, oldest first: what each added, changed and removed, or held back. */

import { exactTime } from '../../part/wording.ts';
import type { Run } from './source-query.ts';
import { foundOf, runLabelOf } from './source-word.ts';

const kinds = ['removed', 'moved', 'changed', 'added'] as const;

export interface RunStripProps {
  readonly runs: readonly Run[];
  /** The bars are buttons that choose a run. */
  readonly chosen?: number | undefined;
  readonly onChoose?: ((run: Run) => void) | undefined;
}

export function RunStrip({ runs, chosen, onChoose }: RunStripProps) {
  const oldestFirst = runs.toReversed();
  if (!onChoose) {
    return (
      <span className="run-strip" role="img" aria-label={sentenceOf(runs)}>
        {oldestFirst.map((run) => (
          <RunBar key={run.run_id} run={run} />
        ))}
      </span>
    );
  }
  return (
    <fieldset className="run-strip tall" aria-label="Runs, oldest first">
      {oldestFirst.map((run) => (
        <button
          key={run.run_id}
          type="button"
          title={titleOf(run)}
          aria-label={titleOf(run)}
          aria-pressed={run.run_id === chosen}
          onClick={() => onChoose(run)}
        >
          <RunBar run={run} />
        </button>
      ))}
    </fieldset>
  );
}

function RunBar({ run }: { run: Run }) {
  const { found, state } = run;
  const sizes = kinds
    .map((kind) => [kind, kind === 'moved' ? found.moved + found.restored : found[kind]] as const)
    .filter(([, number]) => number > 0);
  const total = sizes.reduce((sum, [, number]) => sum + number, 0);
  return (
    <i className={`run-bar ${state}${run.is_plan ? ' plan' : ''}`}>
      {sizes.map(([kind, number]) => (
        <i
          key={kind}
          className={kind}
          style={{ height: `${(number / total) * heightOf(total)}%` }}
        />
      ))}
    </i>
  );
}

/** In powers of ten: one changed file can be seen beside a first run of 10,000. */
const heightOf = (total: number): number => Math.min(100, 35 + Math.log10(total) * 18);

const titleOf = (run: Run): string =>
  `${exactTime(run.created_at)}: ${runLabelOf(run).name}, ${foundOf(run)}`;

function sentenceOf([newest, ...others]: readonly Run[]): string {
  if (!newest) return 'No runs yet';
  return `${others.length + 1} runs, the last: ${runLabelOf(newest).name}, ${foundOf(newest)}`;
}

const legend = [
  ['added', 'added'],
  ['changed', 'changed'],
  ['moved', 'moved or restored'],
  ['removed', 'removed'],
] as const;

export function RunLegend() {
  return (
    <span className="run-legend soft small">
      {legend.map(([kind, name]) => (
        <span key={kind}>
          <i className={kind} /> {name}
        </span>
      ))}
    </span>
  );
}
