import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import neo4j from 'neo4j-driver';
import { realWorld } from '../../src/app/world.ts';
import { openNeo4j } from '../../src/sink/neo4j.ts';
import * as statements from '../../src/sink/neo4j-statements.ts';
import { documentIdOf } from '../../src/store/document/documents.ts';
import type { BoltServer } from '../support/neo4j/bolt-server.ts';
import { hangSignal } from '../support/patience.ts';
import { notes, SinkBench } from './sink/bench.ts';
import { openNeo4jCase, realNeo4j } from './sink/neo4j-case.ts';
import { sinkSuite } from './sink-suite.ts';

sinkSuite('Neo4j', 'entities', { open: openNeo4jCase });

const skip = realNeo4j === undefined ? false : 'a real Neo4j does not fail on demand';

describe('Neo4j beside a store', { skip }, () => {
  async function setup(t: TestContext) {
    const given = await openNeo4jCase(t);
    return { bench: new SinkBench(given), server: given.server as BoltServer, given };
  }

  const refusals: readonly [what: string, code: string, failure: string][] = [
    ['a deadlock', 'Neo.TransientError.Transaction.DeadlockDetected', 'neo4j_write_lock'],
    ['a lock', 'Neo.TransientError.Transaction.LockAcquisitionTimeout', 'neo4j_write_lock'],
    [
      'a node created twice at once',
      'Neo.ClientError.Schema.ConstraintValidationFailed',
      'neo4j_write_lock',
    ],
    ['a lack of memory', 'Neo.TransientError.General.OutOfMemoryError', 'neo4j_failed'],
    ['a busy server', 'Neo.TransientError.General.DatabaseUnavailable', 'neo4j_unavailable'],
    ['a statement it refuses', 'Neo.ClientError.Statement.SyntaxError', 'neo4j_refused'],
  ];
  for (const [what, code, failure] of refusals) {
    test(`${what} is ${failure}, and the next try succeeds`, async (t) => {
      const { bench, server } = await setup(t);
      const id = await bench.make('page', ['walrus', 'lantern']);
      server.troubles.push({ on: /NAMED_WITH \{document: \$id, gen/, code, times: 1 });
      await assert.rejects(bench.run('persisted', id), { code: failure });
      server.troubles.push({ on: /DELETE w/, code, times: 1 });
      await bench.run('persisted', id);
      await bench.run('indexed', id);
      await assert.rejects(bench.run('done', id), { code: failure });
      assert.deepEqual(await bench.seen(), [], 'nothing of the failed write is visible');
      await bench.run('done', id);
      assert.deepEqual(await bench.seen(), ['lantern', 'walrus']);
    });
  }

  test('a write that was applied although the response was lost is applied once', async (t) => {
    const { bench, server } = await setup(t);
    const id = await bench.make('page', ['walrus', 'lantern']);
    server.troubles.push({ on: /MERGE \(d\)-\[n/, code: '', times: 1, isAfter: true });
    await assert.rejects(bench.run('persisted', id), { code: 'neo4j_unavailable' });
    await bench.finish(id);
    assert.deepEqual(await bench.seen(), ['lantern', 'walrus']);
    assert.equal(server.graph.names.size, 2);
  });

  test('a wrong password and an unreachable server are reported as such', async (t) => {
    const { server } = await setup(t);
    const signal = hangSignal();
    const asked = { url: server.url, user: 'neo4j', world: realWorld() };
    const wrong = openNeo4j({ ...asked, password: 'wrong' });
    const right = openNeo4j({ ...asked, password: server.password });
    t.after(() => Promise.all([wrong.close(), right.close()]));
    await assert.rejects(wrong.check(signal), { code: 'neo4j_refused' });
    assert.match(await right.check(signal), /^Neo4j\/5\.26\.0, Bolt 5\.3/);
    await server.close();
    await assert.rejects(right.check(signal), { code: 'neo4j_unavailable' });
  });

  test('an aborted call does not wait for the response', async (t) => {
    const { server, given } = await setup(t);
    const end = await server.begin();
    const stopping = new AbortController();
    const size = given.sink?.size({ corpus: 'notes', model: '' }, stopping.signal);
    stopping.abort(new Error('taken away'));
    await assert.rejects(Promise.resolve(size), /taken away/);
    end();
  });

  test('entities of several documents are one, and stay while a document names them', async (t) => {
    const { bench, server } = await setup(t);
    await bench.publish('page', ['walrus', 'lantern']);
    await bench.publish('other', ['walrus', 'rain']);
    assert.equal(server.graph.entities.size, 3);
    await bench.publish('page', ['roof']);
    assert.deepEqual(await bench.case.kept?.(), ['rain', 'roof', 'walrus']);
    assert.deepEqual([server.graph.names.size, server.graph.named.size], [3, 1]);
    const [document] = server.graph.documents.values();
    const id = documentIdOf('ann', 'notes', 'page');
    const told = { source: 'page', title: 'page', language: 'en', generation: 3 };
    assert.deepEqual(document, { id, ...notes, ...told });
    assert.equal(server.graph.schema.size, statements.schema.length);
  });

  test('a late settlement after a newer one changes nothing', async (t) => {
    const { bench, given } = await setup(t);
    const old = await bench.publish('page', ['walrus']);
    const documentId = documentIdOf(notes.caller, notes.corpus, 'page');
    await bench.publish('page', ['rain']);
    const late = { ...notes, documentId, asOf: old, title: 'old', language: null, models: [] };
    for (const current of [old, undefined]) {
      await given.sink?.settle({ ...late, current }, hangSignal());
      assert.deepEqual(await bench.seen(), ['rain']);
    }
  });

  test('entities named together can be queried', async (t) => {
    const { bench, server } = await setup(t);
    await bench.publish('page', ['walrus', 'lantern', 'rain']);
    const auth = neo4j.auth.basic('neo4j', server.password ?? '');
    const driver = neo4j.driver(server.url, auth, { disableLosslessIntegers: true });
    t.after(() => driver.close());
    const asked = { ...notes, name: 'lantern', limit: neo4j.int(10) };
    const { records } = await driver.executeQuery(statements.currentRelations, asked);
    const found = records.map((record) => `${record.get('name')} ${record.get('weight')}`);
    assert.deepEqual(found.sort(), ['rain 3', 'walrus 3']);
  });
});

interface Linter {
  lintCypherQuery(
    text: string,
    schema: object,
  ): { readonly diagnostics: readonly { readonly message: string }[] };
}

/** 86 MB, so it is installed only to change a statement: `npm install --no-save` and its name. */
const linterName = '@neo4j-cypher/language-support';
const linter = await import(linterName).then(
  (found) => (found.default ?? found) as Linter,
  () => undefined,
);

describe('the statements', { skip: linter ? false : `${linterName} is not installed` }, () => {
  const all = Object.entries(statements).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, text] as const] : text.map((each) => [name, each] as const),
  );
  for (const [name, text] of all) {
    test(`${name}: ${text.trim().slice(0, 40)} is valid Cypher for Neo4j`, () => {
      const found = linter?.lintCypherQuery(text, {}).diagnostics ?? [];
      const wrong = found.map(({ message }) => message).filter((each) => !/^Parameter/.test(each));
      assert.deepEqual(wrong, []);
    });
  }
});
