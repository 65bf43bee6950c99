/**
 * A process is killed around its commits, with Qdrant and Neo4j beside its store. The same command
 * again finishes, and then both match the store exactly.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BoltServer } from '../support/neo4j/bolt-server.ts';
import { QdrantServer } from '../support/qdrant/qdrant-server.ts';
import { openRunner } from './pawl-process.ts';

const corpus = 'handbook';
/** Twice as many as the last kill needs: reports that share a commit pass a failpoint once. */
const names = ['one', 'two', 'three', 'four', 'five', 'six'];

async function setup(t: TestContext) {
  const qdrant = await new QdrantServer().start(t);
  const graph = await new BoltServer().start(t);
  const environment = { PAWL_QDRANT_URL: qdrant.url, PAWL_NEO4J_URL: graph.url, PAWL_WORKERS: '2' };
  const place = openRunner(t);
  const write = (version: string) => {
    for (const name of names) {
      const text = `# ${name}\n\nAda Lovelace wrote ${name} in London. This is ${version}.\n`;
      place.write(`docs/${name}.md`, text);
    }
  };
  const ingest = (failpoint?: string) =>
    place.run(['ingest', 'docs', '--corpus', corpus], {
      environment: { ...environment, ...(failpoint && { PAWL_FAILPOINT: failpoint }) },
    });
  return { qdrant, graph, place, write, ingest, environment };
}

/** Before the sinks are written, between them and the commit, and after it. */
const kills = [
  'step.after-run:kill:13',
  'report.before-commit:kill:7',
  'report.before-commit:kill:11',
  'report.after-commit:kill:9',
];

test('missing or extra data after a kill is repaired by the next run', async (t) => {
  const { qdrant, graph, place, write, ingest, environment } = await setup(t);
  write('version 0');
  assert.equal((await ingest()).code, 0);
  for (const [index, kill] of kills.entries()) {
    write(`version ${index + 1}`);
    assert.equal((await ingest(kill)).signal, 'SIGKILL', kill);
    const { code, stderr } = await ingest();
    assert.equal(code, 0, stderr);
    const texts = qdrant.points.map(({ payload }) => String(payload.text));
    assert.equal(texts.length, names.length, texts.join());
    const isNew = (text: string): boolean => text.includes(`version ${index + 1}`);
    assert.ok(texts.every(isNew), texts.join());
    assert.ok(qdrant.points.every(({ payload }) => payload.current === true));
    const documents = [...graph.graph.documents.values()];
    const generations = new Map(documents.map(({ id, generation }) => [id, generation]));
    assert.equal(documents.length, names.length);
    for (const { document, generation } of graph.graph.names.values()) {
      assert.equal(generation, generations.get(document));
    }
  }
  const asked = ['search', corpus, 'version', '--mode', 'vector', '--json'];
  const { stdout } = await place.run(asked, { environment });
  assert.equal(JSON.parse(stdout).results.length, names.length);
  assert.deepEqual(qdrant.wrongs, []);
});
