/** Access with a clock that the test controls, alone or with its own Membership server. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type AccessOptions, openAccess } from '../../src/access/access.ts';
import { type AuditRecord, makeAudit } from '../../src/access/audit.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { type Reply, startMembership } from './membership.ts';
import type { Cleanup } from './temporary.ts';
import { TestWorld } from './test-world.ts';

export const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');
export const hashed = (key: string) => `sha256:${sha256(key)}`;
export const internalKey = 'internal-0123456789-abcdefgh';

export function openFixture(options: Partial<AccessOptions> = {}) {
  const world = new TestWorld();
  const records: AuditRecord[] = [];
  const audit = makeAudit(world, (record) => records.push(record));
  const access = openAccess({ world, audit, ...options });
  const codeOf = (key: string | undefined) =>
    access.authenticate(key).then(
      () => 'valid',
      (error: Failure) => error.code,
    );
  const failureOf = async (key: string): Promise<Failure> => {
    const error = await access.authenticate(key).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Failure, 'it was answered');
    return error;
  };
  return { world, access, records, codeOf, failureOf };
}

export async function withMembership(t: Cleanup, options: Partial<AccessOptions> = {}) {
  const membership = await startMembership(t);
  const bundle = openFixture({ membershipUrl: membership.url, ...options });
  const answer = (reply: Reply) => {
    membership.reply = () => reply;
  };
  const claim = (claims: unknown) => answer({ status: 200, body: JSON.stringify(claims) });
  return { ...bundle, membership, answer, claim };
}

/** Three consecutive failures, each with its own key. */
export async function openCircuit(bundle: Awaited<ReturnType<typeof withMembership>>) {
  bundle.answer({ status: 500 });
  for (const key of ['fail-1', 'fail-2', 'fail-3']) await bundle.codeOf(key);
  assert.equal(bundle.access.status.membership?.circuit, 'open');
}
