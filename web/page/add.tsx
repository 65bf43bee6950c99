/** Adds files, folders, addresses, whole sites and texts. All is checked before it is sent. */
import { useBlocker } from '@tanstack/react-router';
import { attemptStatus } from '../../src/kernel/lifecycle/attempt.ts';
import { Problem } from '../part/basic.tsx';
import { AddBox } from './add-box.tsx';
import { useDraft } from './add-draft.ts';
import { AddFoot } from './add-foot.tsx';
import { AddSync } from './add-sync.tsx';
import { AttemptView } from './attempt-view.tsx';
import { CheckedList } from './checked-list.tsx';
import { type AttemptButtonState, useAttemptButton } from './use-attempt-button.ts';
import '../style/add.css';
import '../style/text.css';

export function AddPage() {
  const draft = useDraft();
  const { corpus, plan, change } = draft;
  const one = useAttemptButton({ plan, corpus, onSent: draft.clear });
  useLeaving({ ...one, files: draft.files.length });
  return (
    <div className="page narrow add-page">
      <header className="page-head">
        <h1>Add documents</h1>
      </header>
      {one.error !== undefined && <Problem error={one.error} />}
      {!one.isBusy && (
        <>
          <AddBox
            text={draft.text}
            reading={draft.reading}
            title={draft.title}
            hasFiles={draft.files.length > 0}
            onText={(text) => change({ text })}
            onReading={(chosenReading) => change({ chosenReading })}
            onTitle={(chosenTitle) => change({ chosenTitle })}
            onFiles={draft.addFiles}
          />
          <AddSync
            addresses={draft.urls.length}
            folders={draft.folders}
            corpus={corpus}
            extent={draft.extent}
            crawl={draft.crawl}
            following={draft.following}
            onExtent={(extent) => change({ extent })}
            onCrawl={(crawl) => change({ crawl })}
            onFollowing={(following) => change({ following })}
          />
          <CheckedList
            checked={draft.checked}
            known={draft.known}
            onRemove={draft.remove}
            onRemoveAll={() => draft.clear()}
          />
        </>
      )}
      {one.attempt && isShown(one) && (
        <AttemptView attempt={one.attempt} sources={one.sources} corpus={corpus} />
      )}
      <AddFoot one={one} draft={draft} />
    </div>
  );
}

/** An idle attempt is shown if sources are left, or if it stored some before it was stopped. */
function isShown({ attempt, sources }: AttemptButtonState): boolean {
  return sources.length > 0 || attempt?.status !== attemptStatus.idle || attempt.job_id !== null;
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
