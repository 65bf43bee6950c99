import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestWorld } from '../../test/support/test-world.ts';
import { type AuditEvent, type AuditRecord, auditFields, makeAudit } from './audit.ts';
import { localCaller } from './caller.ts';

function setup() {
  const records: AuditRecord[] = [];
  const audit = makeAudit(new TestWorld(), (record) => records.push(record));
  return { audit, records };
}

test('the audit has exactly these events', () => {
  const asked = 'job_submitted job_completed job_failed rate_limit_hit auth_rejected';
  const owned = 'corpus_shared corpus_unshared caller_linked caller_unlinked caller_merged';
  const events = `${asked} callback_refused corpus_searched corpus_asked ${owned} corpus_moved`;
  assert.deepEqual(Object.keys(auditFields), events.split(' '));
});

test('a record has the event, the time, the caller and the fields of the event', () => {
  const { audit, records } = setup();
  const caller = { ...localCaller, callerId: '01f9350b55022160', shownId: 'user_abc', tier: 'pro' };
  audit.emit('corpus_searched', caller, { corpus_name: 'handbook', results: 3 });
  assert.deepEqual(records, [
    {
      event: 'corpus_searched',
      at: '2030-01-01T00:00:00.000Z',
      caller_id: 'user_abc',
      caller_type: 'user',
      tier: 'pro',
      corpus_name: 'handbook',
      results: 3,
    },
  ]);
});

test('fields that an event does not list are dropped, and so are claims', () => {
  const { audit, records } = setup();
  const caller = { ...localCaller, rawClaims: { api_key: 'canary' }, scopes: ['canary'] };
  const fields = { key: 'canary', text: 'canary', caller_id: 'canary', job_id: 'job-1' };
  for (const event of Object.keys(auditFields) as AuditEvent[]) audit.emit(event, caller, fields);
  assert.equal(records.length, Object.keys(auditFields).length);
  assert.doesNotMatch(JSON.stringify(records), /canary/);
  assert.match(JSON.stringify(records), /job-1/);
});

test('a field is truncated to its limit', () => {
  const { audit, records } = setup();
  audit.emit('job_failed', localCaller, { code: 'x'.repeat(1000) });
  assert.equal(String(records[0]?.code).length, 256);
});
