/** The attempt and its staged sources, in the schemas of the contract. */
import type { AttemptView, SourceView } from '../../attempt/view.ts';
import type { Attempt, Staged } from '../../contract/operation/attempt.ts';

export function attemptShape(view: AttemptView): Attempt {
  return {
    status: view.status,
    phase: view.phase,
    attempt_id: view.attemptId,
    staged_work_remaining: view.stagedWorkRemaining,
    actions: [...view.actions],
    safe_to_leave: view.safeToLeave,
    corpus_name: view.corpus,
    draft: view.isDraft,
    sources: view.counts && { ...view.counts },
    job_id: view.jobKey,
    trouble: view.trouble && { ...view.trouble },
    occupied: view.isOccupied,
  };
}

export function stagedShape({ mediaType, corpus, ...view }: SourceView): Staged {
  return { ...view, corpus_name: corpus, media_type: mediaType };
}
