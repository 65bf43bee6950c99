/**
 * One key of one caller is one request. The key is taken in the transaction that writes the job: of
 * two requests at once, the second waits for the first and finds its job.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

export interface IdempotentRequest {
  readonly key: string;
  /** What tells two requests with one key apart. */
  readonly hash: string;
}

const take = sql<{ key: string }>`
  INSERT INTO idempotency (caller, key, request_hash, job_key, created_at)
  VALUES (:caller, :key, :hash, :job_key, :now)
  ON CONFLICT (caller, key) DO UPDATE SET request_hash = excluded.request_hash,
    job_key = excluded.job_key, created_at = excluded.created_at
  WHERE idempotency.created_at <= :expired
  RETURNING key`;
const holder = sql<{ request_hash: string; job_key: string }>`
  SELECT request_hash, job_key FROM idempotency WHERE caller = :caller AND key = :key`;

/** Undefined: the key is now this job's. Otherwise the job that the same request had made. */
export async function takeKey(
  transaction: Transaction,
  request: IdempotentRequest & { caller: string; jobKey: string; now: number },
): Promise<string | undefined> {
  const { caller, key, hash, jobKey, now } = request;
  const expired = now - limits.job.idempotencyTtlMs;
  const taken = await transaction.run(take, { caller, key, hash, job_key: jobKey, now, expired });
  if (taken.length > 0) return undefined;
  const [found] = await transaction.run(holder, { caller, key });
  if (found?.request_hash === hash) return found.job_key;
  throw new Failure(
    'idempotency_conflict',
    'this Idempotency-Key was used for another request within the last 24 hours',
  );
}

const living = sql<{ job_key: string }>`
  SELECT job_key FROM idempotency
  WHERE caller = :caller AND key = :key AND created_at > :expired`;

/** Whether a request with this key was accepted before, and still counts. */
export async function isKeyTaken(
  reader: Reader,
  { caller, key, now }: { caller: string; key: string; now: number },
): Promise<boolean> {
  const expired = now - limits.job.idempotencyTtlMs;
  return (await reader.run(living, { caller, key, expired })).length > 0;
}

const prune = sql<{ key: string }>`
  DELETE FROM idempotency WHERE (caller, key) IN (
    SELECT caller, key FROM idempotency WHERE created_at <= :before ORDER BY created_at
    LIMIT :limit) RETURNING key`;

/** Forgets keys from before a time. Returns how many went. */
export async function pruneKeys(
  transaction: Transaction,
  page: { before: number; limit: number },
): Promise<number> {
  return (await transaction.run(prune, page)).length;
}
