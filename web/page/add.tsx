/** Adds addresses, files, or a whole site. Each source is checked before it is sent. */
import { useBlocker, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { attemptStatus } from '../../src/kernel/lifecycle/attempt.ts';
import { Problem } from '../part/basic.tsx';
import { Segments, Tabs } from '../part/choice.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { Addresses } from './add-addresses.tsx';
import { CrawlForm, type CrawlPlan, crawlProblem, noCrawl } from './add-crawl.tsx';
import { FileDrop } from './add-files.tsx';
import { AttemptView } from './attempt-view.tsx';
import type { ChosenFile } from './chosen-file.ts';
import { CorpusPicker } from './corpus-picker.tsx';
import { type Checked, checkFiles, checkLines, corpusProblem, type Lane } from './preflight.ts';
import type { Plan } from './submission.ts';
import { type AttemptButtonState, useAttemptButton } from './use-attempt-button.ts';

const ways = [
  { value: 'addresses', name: 'Addresses' },
  { value: 'files', name: 'Files' },
  { value: 'crawl', name: 'A whole site' },
] as const;

type Way = (typeof ways)[number]['value'];

const draft = 'pawl.draft';

export interface Draft {
  readonly way: Way;
  readonly corpus: string;
  readonly lines: string;
  readonly files: readonly ChosenFile[];
  readonly crawl: CrawlPlan;
  readonly lane: Lane;
}

const lanes = [
  { value: 'now', name: 'Now' },
  { value: 'cheap', name: 'Cheap, within a day' },
] as const;

function useDraft(names: readonly string[]) {
  const given = useSearch({ from: '/add' });
  const [way, setWay] = useState<Way>('addresses');
  const [lines, setLines] = useState(() => given.url ?? sessionStorage.getItem(draft) ?? '');
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const [crawl, setCrawl] = useState<CrawlPlan>(noCrawl);
  const [lane, setLane] = useState<Lane>('now');
  const [picked, setPicked] = useState({ given: given.corpus, corpus: given.corpus });
  // A link to this page names the corpus again.
  const named = picked.given === given.corpus ? picked.corpus : given.corpus;
  const corpus = named ?? names[0] ?? 'documents';
  const setCorpus = (name: string): void => setPicked({ given: given.corpus, corpus: name });
  const keep = (text: string): void => {
    sessionStorage.setItem(draft, text);
    setLines(text);
  };
  /** Only sent sources are removed from the form. */
  const clear = (): void => {
    if (way === 'addresses') keep('');
    if (way === 'files') setFiles([]);
    setCorpus(corpus);
  };
  const values: Draft = { way, corpus, lines, files, crawl, lane };
  return { ...values, setWay, keep, setFiles, setCrawl, setCorpus, setLane, clear };
}

export function AddPage() {
  const corpora = useCorpora();
  const names = corpora.data?.items.map(({ name }) => name) ?? [];
  const draft = useDraft(names);
  const { plan, problem } = planOf(draft);
  const one = useAttemptButton({ plan, corpus: draft.corpus, onSent: draft.clear });
  useLeaving({ ...one, files: draft.files.length });
  return (
    <div className="page narrow">
      <header className="page-head">
        <h1>Add documents</h1>
      </header>
      {!one.isBusy && (
        <>
          <CorpusPicker names={names} value={draft.corpus} onChange={draft.setCorpus} />
          <Tabs label="What to add" options={ways} value={draft.way} onChange={draft.setWay} />
          <SourceForm draft={draft} />
          <LaneChoice lane={draft.lane} onChange={draft.setLane} />
        </>
      )}
      {one.error !== undefined && <Problem error={one.error} />}
      <Controls one={one} plan={plan} problem={problem} />
      {one.attempt && isShown(one) && <AttemptView attempt={one.attempt} sources={one.sources} />}
    </div>
  );
}

/** An idle attempt is shown if sources are left, or if it stored some before it was stopped. */
function isShown({ attempt, sources }: AttemptButtonState): boolean {
  return sources.length > 0 || attempt?.status !== attemptStatus.idle || attempt.job_id !== null;
}

function SourceForm({ draft }: { draft: ReturnType<typeof useDraft> }) {
  const { way, lines, corpus, files, crawl, lane } = draft;
  return (
    <div id={`panel-${way}`} role="tabpanel" aria-labelledby={`tab-${way}`} className="stack">
      {way === 'addresses' && <Addresses lines={lines} corpus={corpus} onChange={draft.keep} />}
      {way === 'files' && <FileDrop files={files} lane={lane} onChange={draft.setFiles} />}
      {way === 'crawl' && <CrawlForm plan={crawl} onChange={draft.setCrawl} />}
    </div>
  );
}

interface LaneChoiceProps {
  readonly lane: Lane;
  readonly onChange: (lane: Lane) => void;
}

function LaneChoice({ lane, onChange }: LaneChoiceProps) {
  return (
    <div className="row">
      <Segments label="Lane" options={lanes} value={lane} onChange={onChange} />
      {lane === 'cheap' && (
        <span className="soft">
          Models run at batch prices, and recordings are transcribed. Runs as a job.
        </span>
      )}
    </div>
  );
}

interface ControlsProps extends Planned {
  readonly one: AttemptButtonState;
}

/** The main button, and beside it the background job, which needs no further input. */
function Controls({ one, plan, problem }: ControlsProps) {
  const isCrawl = plan?.kind === 'crawl';
  const isJobOnly = !one.isBusy && (isCrawl || plan?.lane === 'cheap');
  const { text, action } = one.button;
  return (
    <div className="row sticky-foot">
      {!isJobOnly && (
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
          className={isJobOnly ? 'button primary' : 'button'}
          title="A job runs in the background, retries, and puts failed documents into the inbox"
          onClick={() => void one.handOver(plan)}
        >
          {isCrawl ? `Start crawling into ${plan.corpus}` : 'Submit as a job'}
        </button>
      )}
      {one.attempt?.occupied && (
        <span className="soft">Only one attempt can run at a time. You can submit a job now.</span>
      )}
      {one.button.action === undefined && problem !== undefined && !one.isBusy && (
        <span className="soft">{problem}</span>
      )}
    </div>
  );
}

const askFiles = 'The chosen files have not been sent. Leave anyway?';
const askSending = 'The files are still being sent. Leave and stop sending?';

/**
 * Asks only if something would be lost. Typed text is kept, and the attempt runs without this page.
 * But closing the window may also end the service, so a phase that would be lost asks as well.
 */
function useLeaving({ isSending, attempt, files }: Leaving): void {
  const wouldLose = isSending || files > 0;
  useBlocker({
    shouldBlockFn: () => wouldLose && !confirm(isSending ? askSending : askFiles),
    enableBeforeUnload: wouldLose || attempt?.safe_to_leave === false,
    disabled: !wouldLose && attempt?.safe_to_leave !== false,
  });
}

type Leaving = Pick<AttemptButtonState, 'isSending' | 'attempt'> & { readonly files: number };

interface Planned {
  readonly plan?: Plan | undefined;
  /** Why it cannot be sent yet. */
  readonly problem?: string | undefined;
}

/** The sources that would be sent: only valid ones. */
function planOf({ way, corpus, lines, files, crawl, lane }: Draft): Planned {
  const problem = corpusProblem(corpus);
  if (problem !== undefined) return { problem };
  if (way === 'crawl') {
    const wrong = crawlProblem(crawl);
    if (wrong !== undefined) return { problem: wrong };
    return { plan: { kind: 'crawl', corpus, lane, crawl } };
  }
  const checked = way === 'files' ? checkFiles(files, lane) : checkLines(lines);
  const ready = checked.filter(({ verdict }) => verdict === 'ready');
  if (ready.length === 0) return { problem: checked.length === 0 ? hints[way] : noneReady };
  if (way === 'addresses') return { plan: { kind: 'urls', corpus, lane, urls: namesOf(ready) } };
  const sent = files.filter((_, index) => checked[index]?.verdict === 'ready');
  return { plan: { kind: 'files', corpus, lane, files: sent } };
}

const hints = { addresses: 'Paste at least one address.', files: 'Choose at least one file.' };
const noneReady = 'None of these sources can be sent.';
const namesOf = (checked: readonly Checked[]): string[] => checked.map(({ name }) => name);
