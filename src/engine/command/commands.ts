/** All changes go through these commands: the API, CLI, library and workbench have no other way. */

import { Failure } from '../../kernel/failure/failure.ts';
import { type MoveTarget, place } from '../../kernel/lifecycle/item-wait.ts';
import { job as jobMachine, jobState } from '../../kernel/lifecycle/job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type CorpusPlace, nameFor } from '../../kernel/name/corpus-name.ts';
import { nextTurn } from '../../kernel/world.ts';
import type { NewEvent } from '../../observe/event.ts';
import { forgetAccess, ownerOfCorpus } from '../../store/corpus/access.ts';
import { deleteOrigins } from '../../store/corpus/origins.ts';
import {
  type CorpusKey,
  deleteCorpusSettings,
  setCorpusBudget,
} from '../../store/corpus/settings.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import { forgetAttachments, listAttachmentsBelow } from '../../store/document/attachments.ts';
import {
  deleteCorpus,
  getDocument,
  listDocuments,
  lockCorpus,
} from '../../store/document/documents.ts';
import { pruneInPlaceOf, removeDocument } from '../../store/document/prune.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { gatesOf } from '../../store/item/claims.ts';
import { holdFences, takeFences } from '../../store/item/fence.ts';
import { admitAtGates } from '../../store/item/gates.ts';
import { discard, type Retry, retry } from '../../store/item/interventions.ts';
import { type ItemRow, listEnded } from '../../store/item/items.ts';
import { gateBit } from '../../store/item/reports.ts';
import type { JobRow } from '../../store/job/jobs.ts';
import { moveJob } from '../../store/job/moves.ts';
import { insertSubmission, type NewSource, type Submitted } from '../../store/job/submit.ts';
import { insertParsed, type ParsedSubmission } from '../../store/job/submit-parsed.ts';
import { JobDeltas, settleJobs } from '../../store/job/update-jobs.ts';
import {
  checkBudget,
  checkCorpusName,
  checkLane,
  checkPriority,
  checkSources,
  checkWallSeconds,
} from './admission.ts';
import { cancelItemsOf } from './cancel-items.ts';
import type { CancelReceipt, SubmitInput } from './input.ts';
import { JobControl, type JobControlOptions, unsweptAmong, writeCommand } from './job-control.ts';
import type { JobSweeps } from './job-sweeps.ts';
import { acceptOrigins, type ConfiguredOrigins, type CorpusOrigins } from './origins.ts';
import { beginRechunking, type Rechunked, type RechunkInput } from './rechunk.ts';
import { beginReembedding, type ReembedInput } from './reembed.ts';
import { removeSourcesOf } from './remove-sources.ts';
import { checkNoneOpen, itemEvent, itemForAction, jobEvent, jobIdsOf, jobsOf } from './rows.ts';

export interface CommandOptions extends JobControlOptions {
  /** Throws for a source that could never be read. */
  readonly checkSource?: ((source: NewSource) => void) | undefined;
  /** These items were taken away: work on them in this process can stop. */
  readonly revoke: (itemIds: readonly number[]) => void;
}

interface ItemsAction {
  readonly caller: string;
  readonly ids: readonly number[];
  readonly action: 'retry' | 'discard';
}

export class Commands {
  readonly #options: CommandOptions;
  readonly #control: JobControl;

  constructor(options: CommandOptions) {
    this.#options = options;
    this.#control = new JobControl(options);
  }

  /** Job commands that still have to be applied to items. */
  get sweeps(): JobSweeps {
    return this.#control.sweeps;
  }

  /** Accepts a job. When this resolves, the job is on disk. */
  async submit(input: SubmitInput): Promise<Submitted> {
    checkCorpusName(input.corpus);
    checkSources(input.sources);
    const { database, world, checkSource } = this.#options;
    for (const [index, source] of input.sources.entries()) {
      if ((index + 1) % limits.store.statementsPerTurn === 0) await nextTurn(world);
      checkSource?.(source);
    }
    const { webhookUrl } = input;
    if (webhookUrl !== undefined) checkSource?.({ kind: 'url', source: webhookUrl });
    const key = world.uuid();
    return this.#write('submit', (transaction) =>
      insertSubmission(transaction, {
        ...input,
        key,
        priority: checkPriority(input.priority),
        force: input.force ?? false,
        budgetCents: checkBudget(input.budgetCents),
        maxWallSeconds: checkWallSeconds(input.maxWallSeconds),
        lane: checkLane(input.lane),
        now: database.now(),
      }),
    );
  }

  /** Accepts documents that are already parsed and chunked. All of them are on disk, or none. */
  submitParsed(submission: ParsedSubmission): Promise<readonly number[]> {
    return this.#write('submit', (transaction) =>
      insertParsed(transaction, submission, this.#options),
    );
  }

  /** Ends everything open of the job, running or not. Finished items stay. */
  cancel(caller: string, jobKey: string): Promise<CancelReceipt> {
    return this.#control.cancel(caller, jobKey);
  }

  /** Pauses the job. Running steps are aborted, and run again after `resume`. */
  pause(caller: string, jobKey: string): Promise<void> {
    return this.#control.pause(caller, jobKey);
  }

  /** A job that has used up its budget resumes only with a higher one. */
  resume(caller: string, jobKey: string, budgetCents?: number): Promise<void> {
    return this.#control.resume(caller, jobKey, budgetCents);
  }

  /** Runs failed and canceled items again, each from where it stopped. */
  async retry(caller: string, jobKey: string): Promise<number> {
    return this.#control.change(caller, jobKey, 'retry', async (transaction, row, now) => {
      const ended = await listEnded(transaction, row.id);
      return this.#beginAgain(transaction, { move: 'restart', rows: ended, now });
    });
  }

  /** Re-embeds a corpus. Returns the key of the job; undefined if there is nothing to do. */
  async reembed(input: ReembedInput): Promise<string | undefined> {
    const { database, world } = this.#options;
    const budgetCents = checkBudget(input.budgetCents);
    const made = { key: world.uuid(), now: database.now() };
    return this.#write('submit', (transaction) =>
      beginReembedding(transaction, { ...input, budgetCents }, made),
    );
  }

  /** Changes how texts of a corpus are split, and splits its documents again. */
  async rechunk(input: RechunkInput): Promise<Rechunked> {
    const { database, world } = this.#options;
    const budgetCents = checkBudget(input.budgetCents);
    const made = { key: world.uuid(), now: database.now() };
    return this.#write('submit', (transaction) =>
      beginRechunking(transaction, { ...input, budgetCents }, made),
    );
  }

  /** From now on, text of the corpus is sent to the addresses configured here. */
  acceptOrigins(key: CorpusKey, origins: ConfiguredOrigins): Promise<CorpusOrigins> {
    return this.#write('command', (transaction) => acceptOrigins(transaction, key, origins));
  }

  /** The total budget of a corpus. Null: none. */
  async setCorpusBudget(input: CorpusKey & { budgetCents: number | null }): Promise<void> {
    checkBudget(input.budgetCents ?? undefined);
    await this.#write('command', (transaction) => setCorpusBudget(transaction, input));
  }

  /**
   * Retries items of the inbox, each from its failed step. The old diagnosis stays in the history.
   */
  async retryItems(caller: string, ids: readonly number[]): Promise<number> {
    return this.#control.whenSwept(() =>
      this.#changeItems({ caller, ids, action: 'retry' }, async (transaction, rows, now) => {
        const jobIds = jobIdsOf(rows);
        await takeFences(transaction, jobIds);
        const unswept = await unsweptAmong(transaction, jobIds);
        return unswept ?? this.#beginAgain(transaction, { move: 'retry', rows, now });
      }),
    );
  }

  /** Removes items from the inbox permanently. */
  async discardItems(caller: string, ids: readonly number[]): Promise<number> {
    return this.#changeItems({ caller, ids, action: 'discard' }, async (transaction, rows, now) => {
      await holdFences(transaction, jobIdsOf(rows));
      const hits = await discard(
        transaction,
        rows.map(({ id }) => id),
        now,
      );
      const discarded = rows.filter((_, index) => hits[index]);
      const pruned = await pruneInPlaceOf(transaction, discarded, this.#options.lifecycle);
      const deltas = new JobDeltas();
      for (const row of discarded) {
        deltas.of(row.job_id).failed--;
        deltas.of(row.job_id).canceled++;
      }
      const events = [...discarded.map((row) => itemEvent(row, 'item_discarded')), ...pruned];
      events.push(...(await settleJobs(transaction, deltas, now)));
      await appendEvents(transaction, events, now);
      return discarded.length;
    });
  }

  /**
   * Deletes a document with everything made of it; a mail is deleted with its files. Items that
   * work on it are canceled, and a retry of an older one finds that it is deleted: only a new
   * submission brings it back.
   */
  async deleteDocument(caller: string, documentId: string): Promise<void> {
    if (await this.#removeDocument(caller, documentId)) return;
    throw new Failure('document_unknown', `there is no document ${documentId}`);
  }

  /** Skips ids that the corpus does not have, so it can be called again after an interruption. */
  async deleteDocuments(place: CorpusPlace, ids: readonly string[]): Promise<number> {
    let deleted = 0;
    for (const id of new Set(ids)) {
      const document = await getDocument(this.#options.database, id);
      if (document?.corpus !== place.corpus) continue;
      if (await this.#removeDocument(place.caller, id)) deleted += 1;
    }
    return deleted;
  }

  /** False: there is no such document. */
  async #removeDocument(caller: string, documentId: string): Promise<boolean> {
    const { database, revoke } = this.#options;
    const canceled = await this.#write('command', async (transaction) => {
      const now = database.now();
      if ((await getDocument(transaction, documentId))?.caller !== caller) return undefined;
      const ids = [documentId, ...(await listAttachmentsBelow(transaction, [documentId]))];
      const remove = async (): Promise<NewEvent[]> => {
        const removed: NewEvent[] = [];
        for (const id of ids) removed.push(...(await removeDocument(transaction, id)));
        await forgetAttachments(transaction, ids);
        return removed;
      };
      const { items, events } = await cancelItemsOf(transaction, [documentId], now, remove);
      await appendEvents(transaction, events, now);
      return items;
    });
    revoke(canceled ?? []);
    return canceled !== undefined;
  }

  /**
   * Deletes the documents of a corpus in a caller's namespace, one by one, and then the corpus,
   * unless others have one with this name. Returns the number of documents. It can be called again
   * after an interruption.
   */
  async deleteCorpus(caller: string, name: string): Promise<number> {
    const { database } = this.#options;
    await checkNoneOpen(database, caller, name);
    const page = { caller, corpus: name, after: '', limit: limits.request.pageItemsMax };
    let deleted = 0;
    for (;;) {
      const documents = await listDocuments(database, page);
      if (documents.length === 0) break;
      // The files of a mail are deleted with it, and count as well.
      for (const { id } of documents) await this.#removeDocument(caller, id);
      deleted += documents.length;
    }
    await this.#write('command', async (transaction) => {
      await lockCorpus(transaction, name);
      await checkNoneOpen(transaction, caller, name);
      const place = { caller, corpus: name };
      await removeSourcesOf(transaction, place, database.now());
      const owner = await ownerOfCorpus(transaction, place);
      await deleteCorpusSettings(transaction, place);
      await deleteCorpusSettings(transaction, { caller: owner, corpus: nameFor(owner, place) });
      await forgetAccess(transaction, place);
      await deleteOrigins(transaction, place);
      const isGone = await deleteCorpus(transaction, name);
      const detail = { corpus: name, documents: deleted, caller, owner };
      const event: NewEvent = { kind: 'corpus_deleted', jobId: null, detail };
      if (isGone) await appendEvents(transaction, [event], database.now());
    });
    return deleted;
  }

  async #beginAgain(
    transaction: Transaction,
    { move, rows, now }: Pick<Retry, 'move' | 'now'> & { readonly rows: readonly ItemRow[] },
  ): Promise<number> {
    const { lifecycle } = this.#options;
    const jobs = await jobsOf(transaction, rows);
    const items = rows.map((row) => ({
      id: row.id,
      step: lifecycle.stepOf(row.progress),
      rank: row.rank,
      gate: row.gate,
      waitsOn: this.#placeOf(row, jobs.get(row.job_id)),
    }));
    const hits = await retry(transaction, { move, items, now });
    const retried = rows.filter((_, index) => hits[index]);
    await admitAtGates(transaction, gatesOf(retried), now);
    const events: NewEvent[] = retried.map((row) => itemEvent(row, 'item_retried'));
    const deltas = new JobDeltas();
    for (const row of retried) {
      const delta = deltas.of(row.job_id);
      delta.retried++;
      if (row.failed_at === null) delta.canceled--;
      else delta.failed--;
    }
    for (const { id } of deltas.list()) {
      const job = jobs.get(id);
      if (!job || !jobMachine.final.includes(job.state)) continue;
      const moved = await moveJob(transaction, { id, from: job.state, event: 'retry', now });
      events.push(jobEvent(job, 'job_retried', moved, { reason: 'retry requested' }));
    }
    events.push(...(await settleJobs(transaction, deltas, now)));
    await appendEvents(transaction, events, now);
    return retried.length;
  }

  #placeOf(row: ItemRow, job: JobRow | undefined): MoveTarget<'retry'> {
    if (job?.state === jobState.paused) return place.person;
    const isPastGate = (row.progress & gateBit(this.#options.lifecycle)) !== 0;
    return row.gate === null || isPastGate ? place.turn : place.gate;
  }

  #changeItems<T>(
    { caller, ids, action }: ItemsAction,
    change: (transaction: Transaction, rows: readonly ItemRow[], now: number) => Promise<T>,
  ): Promise<T> {
    const { database } = this.#options;
    return this.#write('command', async (transaction) => {
      const rows: ItemRow[] = [];
      const inOrder = [...new Set(ids)].sort((a, b) => a - b);
      for (const id of inOrder) rows.push(await itemForAction(transaction, { id, caller, action }));
      return change(transaction, rows, database.now());
    });
  }

  #write<T>(
    name: 'submit' | 'command',
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    return writeCommand(this.#options, name, work);
  }
}
