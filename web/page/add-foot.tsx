/** Always in sight: the corpus, the lane, how much it is, and the buttons. */
import { limits } from '../../src/kernel/limits/limits.ts';
import { Segments } from '../part/choice.tsx';
import { bytes, counted } from '../part/wording.ts';
import type { Draft } from './add-draft.ts';
import { CorpusPicker } from './corpus-picker.tsx';
import type { Plan } from './submission.ts';
import type { AttemptButtonState } from './use-attempt-button.ts';

const lanes = [
  { value: 'now', name: 'Now' },
  { value: 'cheap', name: 'Batch lane' },
] as const;

export interface AddFootProps {
  readonly one: AttemptButtonState;
  readonly draft: Draft;
}

export function AddFoot({ one, draft }: AddFootProps) {
  const { lane, corpus, plan } = draft;
  return (
    <section className="add-foot" aria-label="Where it goes">
      {!one.isBusy && (
        <div className="row fields">
          <CorpusPicker names={draft.names} value={corpus} onChange={draft.setCorpus} />
          <Segments
            label="Lane"
            options={lanes}
            value={lane}
            onChange={(chosen) => draft.change({ lane: chosen })}
          />
          <span className="soft grow">
            {lane === 'cheap'
              ? 'Models run at batch prices, within a day, and recordings are transcribed.'
              : plan && amountOf(plan)}
          </span>
        </div>
      )}
      <Buttons one={one} draft={draft} />
    </section>
  );
}

function amountOf({ urls, files }: Plan): string {
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  return [
    ...(urls.length > 0 ? [counted(urls.length, 'address', 'addresses')] : []),
    ...(files.length > 0 ? [`${counted(files.length, 'file')}, ${bytes(size)}`] : []),
  ].join(' · ');
}

/** What only a job can do, or does better. */
function isJobOnly({ crawl, follow, lane, urls, files }: Plan): boolean {
  const isLarge = urls.length + files.length > limits.attempt.sourcesMax;
  return isLarge || crawl !== undefined || follow !== undefined || lane === 'cheap';
}

function Buttons({ one, draft: { plan, problem } }: AddFootProps) {
  const { text, action } = one.button;
  const isJob = !one.isBusy && plan !== undefined && isJobOnly(plan);
  return (
    <div className="row">
      {!isJob && (
        <button
          type="button"
          className="button primary"
          data-action={action ?? 'none'}
          disabled={action === undefined || one.isAsking}
          onClick={() => action && one.act(action)}
        >
          {text}
        </button>
      )}
      {plan && !one.isBusy && (
        <button
          type="button"
          className={isJob ? 'button primary' : 'button'}
          title="A job runs in the background, retries, and puts failed documents into the inbox"
          onClick={() => void one.handOver(plan)}
        >
          {jobLabelOf(plan, isJob)}
        </button>
      )}
      {one.attempt?.occupied && (
        <span className="soft">Only one import can run at a time. You can add in background.</span>
      )}
      {action === undefined && problem !== undefined && !one.isBusy && (
        <span className="soft">{problem}</span>
      )}
    </div>
  );
}

function jobLabelOf({ corpus, crawl, follow, urls, files }: Plan, isMain: boolean): string {
  if (follow) return `Keep ${corpus} in sync`;
  if (crawl) return `Add the site to ${corpus}`;
  if (!isMain) return 'Add in background';
  return `Add ${counted(urls.length + files.length, 'source')} in background`;
}
