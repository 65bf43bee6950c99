/** Add: addresses, files, or a whole site. What will happen to each is said before it is sent. */
import { useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Problem } from '../part/basic.tsx';
import { Tabs } from '../part/choice.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { counted } from '../part/wording.ts';
import { Addresses } from './add-addresses.tsx';
import { CrawlForm, type CrawlPlan, crawlProblem, noCrawl } from './add-crawl.tsx';
import { FileDrop } from './add-files.tsx';
import { CorpusPicker } from './corpus-picker.tsx';
import { type Checked, checkFiles, checkLines, corpusProblem } from './preflight.ts';
import { type Plan, useSubmission } from './submission.ts';

const ways = [
  { value: 'addresses', name: 'Addresses' },
  { value: 'files', name: 'Files' },
  { value: 'crawl', name: 'A whole site' },
] as const;

type Way = (typeof ways)[number]['value'];

const draft = 'pawl.draft';

export function AddPage() {
  const given = useSearch({ from: '/add' });
  const navigate = useNavigate();
  const corpora = useCorpora();
  const names = corpora.data?.items.map(({ name }) => name) ?? [];
  const [way, setWay] = useState<Way>('addresses');
  const [lines, setLines] = useState(() => given.url ?? sessionStorage.getItem(draft) ?? '');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [crawl, setCrawl] = useState<CrawlPlan>(noCrawl);
  const [picked, setCorpus] = useState<string | undefined>(given.corpus);
  const corpus = picked ?? names[0] ?? 'documents';
  const keep = (text: string): void => {
    sessionStorage.setItem(draft, text);
    setLines(text);
  };
  const { plan, problem } = planOf({ way, corpus, lines, files, crawl });
  const submission = useSubmission((jobId) => {
    sessionStorage.removeItem(draft);
    setFiles([]);
    void navigate({ to: '/jobs/$id', params: { id: jobId }, ignoreBlocker: true });
  });
  // Only what would be lost is asked about: what was typed is kept anyway.
  const wouldLose = submission.isSending || files.length > 0;
  useBlocker({
    shouldBlockFn: () => !confirm(submission.isSending ? askSending : askFiles),
    enableBeforeUnload: wouldLose,
    disabled: !wouldLose,
  });
  return (
    <div className="page narrow">
      <header className="page-head">
        <h1>Add documents</h1>
      </header>
      <CorpusPicker names={names} value={corpus} onChange={setCorpus} />
      <Tabs label="What to add" options={ways} value={way} onChange={setWay} />
      <div id={`panel-${way}`} role="tabpanel" aria-labelledby={`tab-${way}`} className="stack">
        {way === 'addresses' && <Addresses lines={lines} corpus={corpus} onChange={keep} />}
        {way === 'files' && <FileDrop files={files} onChange={setFiles} />}
        {way === 'crawl' && <CrawlForm plan={crawl} onChange={setCrawl} />}
      </div>
      {submission.error !== undefined && <Problem error={submission.error} />}
      <div className="row">
        <button
          type="button"
          className="button primary"
          disabled={!plan || submission.isSending}
          onClick={() => plan && submission.start(plan)}
        >
          {buttonText(plan, submission.isSending)}
        </button>
        {problem !== undefined && <span className="soft">{problem}</span>}
      </div>
    </div>
  );
}

const askFiles = 'The files that you chose have not been sent. Leave anyway?';
const askSending = 'The files are still being sent. Leave anyway, and send nothing?';

interface Draft {
  readonly way: Way;
  readonly corpus: string;
  readonly lines: string;
  readonly files: readonly File[];
  readonly crawl: CrawlPlan;
}

interface Planned {
  readonly plan?: Plan | undefined;
  /** Why it cannot be sent yet. */
  readonly problem?: string | undefined;
}

/** What would be sent: only what is ready. */
function planOf({ way, corpus, lines, files, crawl }: Draft): Planned {
  const problem = corpusProblem(corpus);
  if (problem !== undefined) return { problem };
  if (way === 'crawl') {
    const wrong = crawlProblem(crawl);
    return wrong === undefined ? { plan: { kind: 'crawl', corpus, crawl } } : { problem: wrong };
  }
  const checked = way === 'files' ? checkFiles(files) : checkLines(lines);
  const ready = checked.filter(({ verdict }) => verdict === 'ready');
  if (ready.length === 0) return { problem: checked.length === 0 ? hints[way] : noneReady };
  if (way === 'addresses') return { plan: { kind: 'urls', corpus, urls: namesOf(ready) } };
  const sent = files.filter((_, index) => checked[index]?.verdict === 'ready');
  return { plan: { kind: 'files', corpus, files: sent } };
}

const hints = { addresses: 'Paste at least one address.', files: 'Choose at least one file.' };
const noneReady = 'Nothing of this can be sent as it is.';
const namesOf = (checked: readonly Checked[]): string[] => checked.map(({ name }) => name);

function buttonText(plan: Plan | undefined, isSending: boolean): string {
  if (isSending) return 'Sending…';
  if (!plan) return 'Start';
  if (plan.kind === 'crawl') return `Start crawling into ${plan.corpus}`;
  const sources =
    plan.kind === 'urls'
      ? counted(plan.urls.length, 'address', 'addresses')
      : counted(plan.files.length, 'file');
  return `Add ${sources} to ${plan.corpus}`;
}
