/** Looking up conditions on metadata takes no longer than reading all documents would. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../../kernel/limits/limits.ts';
import type { Where } from '../../kernel/metadata/where.ts';
import type { Reader } from '../driver/database.ts';
import { findCandidates } from './metadata-index.ts';

const of = { caller: 'local', corpus: 'notes' };

/** A database in which each lookup finds this many documents. */
function counted(perLookup: number) {
  const read = { lookups: 0, rows: 0 };
  const rows = Array.from({ length: perLookup }, (_, n) => ({ document_id: `d${n}` }));
  const run = async () => {
    read.lookups += 1;
    read.rows += rows.length;
    return rows;
  };
  return { read, reader: { run } as unknown as Reader };
}

const among = (values: readonly number[]): Where => ({ key: 'year', op: 'in', values });
const { candidateRowsMax, candidateLookupRows } = limits.search;

describe('the documents that may match a condition', () => {
  test('are looked up once for each value', async () => {
    const { read, reader } = counted(3);
    const found = await findCandidates(reader, of, among(Array(200).fill(2025)));
    assert.deepEqual([found?.size, read.lookups], [3, 1]);
  });

  for (const join of ['and', 'or'] as const) {
    test(`are read up to a limit from conditions joined by ${join}`, async () => {
      const { read, reader } = counted(1000);
      const parts = Array.from({ length: 100 }, () => among([1, 2, 3, 4]));
      const where = (join === 'and' ? { and: parts } : { or: parts }) as Where;
      const found = await findCandidates(reader, of, where);
      assert.equal(found?.size, join === 'and' ? 1000 : undefined);
      assert.ok(read.rows > candidateRowsMax / 2 && read.rows <= candidateRowsMax + 1000);
    });
  }

  test('are looked up a limited number of times', async () => {
    const { read, reader } = counted(0);
    const values = Array.from({ length: 200 }, (_, n) => n);
    const parts = Array.from({ length: 100 }, () => among(values));
    assert.equal(await findCandidates(reader, of, { or: parts }), undefined);
    assert.equal(read.lookups, candidateRowsMax / candidateLookupRows);
  });
});
