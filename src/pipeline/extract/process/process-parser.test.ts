import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { patience } from '../../../../test/support/patience.ts';
import { isStopped } from '../../../../test/support/process-state.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { until } from '../../../../test/support/wait.ts';
import { realWorld } from '../../../app/world.ts';
import { thisProcess } from '../../../engine/item/liveness.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { Parsed } from '../parsed.ts';
import { type ProcessParserOptions, processParser } from './process-parser.ts';
import { findCage } from './sandbox.ts';

const wild = import.meta.resolve('./fixture/wild-parser.ts');
const never = new AbortController().signal;

function setup(t: TestContext, options: Partial<ProcessParserOptions> = {}) {
  const parser = processParser({
    owner: thisProcess(),
    world: realWorld(),
    module: wild,
    size: 1,
    timeoutMs: patience.fileMs,
    ...options,
  });
  t.after(() => parser.close());
  /** Parses a document that tells the parser what to do. */
  const tell = (text: string, signal: AbortSignal = never): Promise<Parsed> =>
    parser.parse({ bytes: Buffer.from(text), mediaType: 'test/wild', source: 'a.wild' }, signal);
  const codeOf = async (text: string): Promise<string> => {
    const error = await tell(text).then(
      ({ markdown }) => assert.fail(`${text} gave ${markdown}`),
      (error: unknown) => error,
    );
    assert.ok(error instanceof Failure, String(error));
    return error.code;
  };
  return { parser, tell, codeOf };
}

test('the result of a parser is returned complete', async (t) => {
  const { tell } = setup(t);
  const text = `“ä” \u{1f600}\n${'x'.repeat(3_000_000)}`;
  const parsed = await tell(`say ${text}`);
  assert.equal(parsed.markdown, text);
  assert.equal(parsed.title, 'say');
  assert.equal(typeof parsed.meta.pid, 'number');
});

test('a process is used again, and documents in it come one after the other', async (t) => {
  const { tell } = setup(t);
  const said = await Promise.all(['count', 'count', 'count'].map((text) => tell(text)));
  const texts = said.map(({ markdown }) => markdown.replace(/process \d+/, 'process'));
  assert.deepEqual(texts, [
    'document 1 of process',
    'document 2 of process',
    'document 3 of process',
  ]);
  assert.equal(new Set(said.map(({ meta }) => meta.pid)).size, 1);
});

test('there are as many processes as were asked for, and no more', async (t) => {
  const { parser, tell } = setup(t, { size: 2 });
  const said = await Promise.all(Array.from({ length: 12 }, () => tell('count')));
  assert.equal(new Set(said.map(({ meta }) => meta.pid)).size, 2);
  assert.equal(parser.pids().length, 2);
});

test('a failure of a parser keeps its code, its message and its context', async (t) => {
  const { tell } = setup(t);
  await assert.rejects(tell('fail encrypted_document'), (error: Failure) => {
    assert.equal(error.code, 'encrypted_document');
    assert.match(error.message, /as requested/);
    assert.deepEqual(error.context, { page: 3 });
    return true;
  });
  assert.match((await tell('count')).markdown, /^document 2 /, 'the process continues');
});

test('a defect of a parser is an internal error, and does not end the process', async (t) => {
  const { codeOf, tell } = setup(t);
  assert.equal(await codeOf('throw'), 'internal_error');
  assert.match((await tell('count')).markdown, /^document 2 /);
});

test('a document that gets little CPU may take as long as it needs', async (t) => {
  const timeoutMs = 1500;
  const { tell } = setup(t, { timeoutMs });
  const parsed = await tell(`plod ${1.2 * limits.parser.waitFactor * timeoutMs}`);
  assert.equal(parsed.markdown, 'arrived');
});

/**
 * However a process dies, its document fails with the code, and the next one gets a new process.
 */
const deaths: readonly [deed: string, code: string][] = [
  ['exit 0', 'parse_crashed'],
  ['exit 7', 'parse_crashed'],
  ['signal SIGSEGV', 'parse_crashed'],
  ['signal SIGKILL', 'parse_crashed'],
  ['babble', 'parse_crashed'],
  ['bomb', 'parse_memory'],
  ['heap', 'parse_memory'],
];

for (const [deed, code] of deaths) {
  test(`a document that does "${deed}" fails with ${code}, and only that one`, async (t) => {
    const { codeOf, tell } = setup(t);
    const [found, other] = await Promise.all([codeOf(deed), tell('count')]);
    assert.equal(found, code);
    assert.match(other.markdown, /^document 1 /);
  });
}

test('time without work does not count against a document', async (t) => {
  const { tell } = setup(t, { timeoutMs: 1_000 });
  await tell('count');
  assert.equal((await tell('rest 2000')).markdown, 'rested');
});

test('slow documents do not block others', async (t) => {
  const { tell, parser } = setup(t, { size: 2 });
  let ended = 0;
  for (const spinning of [tell('spin'), tell('spin')]) {
    spinning.catch(() => {
      ended += 1;
    });
  }
  for (const text of ['one', 'two', 'three']) {
    assert.equal((await tell(`say ${text}`)).markdown, text);
  }
  assert.equal(ended, 0, 'they are still at it');
  assert.ok(parser.pids().length > 2);
});

for (const deed of ['spin', 'wait']) {
  test(`a document that does "${deed}" is ended after its time limit`, async (t) => {
    const { codeOf, parser } = setup(t, { timeoutMs: 2_000 });
    const ending = codeOf(deed);
    await until(() => parser.pids().length === 1, { what: 'its process' });
    const pids = parser.pids();
    assert.equal(await ending, 'parse_timeout');
    for (const pid of pids) assert.ok(!existsSync(`/proc/${pid}`), `${pid} is still there`);
  });

  test(`aborting ends a document that does "${deed}" at once`, async (t) => {
    const { tell, parser } = setup(t);
    await tell('count');
    const [pid] = parser.pids();
    const controller = new AbortController();
    const spinning = tell(deed, controller.signal);
    // By the next turn, the document has been sent.
    await new Promise(setImmediate);
    controller.abort(new Failure('canceled', 'nobody wants it'));
    await assert.rejects(spinning, { code: 'canceled' });
    assert.ok(!existsSync(`/proc/${pid}`));
    assert.match((await tell('count')).markdown, /^document 1 /);
  });
}

test('aborting leaves the line, and does not affect others', async (t) => {
  const { tell } = setup(t);
  const first = tell('count');
  const controller = new AbortController();
  const second = tell('count', controller.signal);
  const third = tell('count');
  controller.abort(new Failure('canceled', 'nobody wants it'));
  await assert.rejects(second, { code: 'canceled' });
  assert.match((await first).markdown, /^document 1 /);
  assert.match((await third).markdown, /^document 2 /);
});

test('a process killed between documents is replaced silently', async (t) => {
  const { tell, parser } = setup(t);
  await tell('count');
  const [pid = 0] = parser.pids();
  process.kill(pid, 'SIGKILL');
  await until(() => parser.pids().length === 0, { what: 'the process to be missed' });
  assert.match((await tell('count')).markdown, /^document 1 /);
});

test('a process that does not release its memory is replaced', async (t) => {
  const { tell } = setup(t);
  await tell(`keep ${limits.parser.restingMemoryBytesMax}`);
  assert.match((await tell('count')).markdown, /^document 1 /);
});

test('a text above the size limit is refused', async (t) => {
  const { codeOf } = setup(t);
  assert.equal(await codeOf(`long ${limits.parser.textBytesMax + 1}`), 'source_too_large');
});

test('a library that prints disturbs nothing', async (t) => {
  const { tell } = setup(t);
  assert.equal((await tell('print')).markdown, 'printed');
});

test('a parser can neither start processes, nor read or write outside of its folder', async (t) => {
  const { tell } = setup(t);
  const folder = temporaryDirectory(t);
  const own = new URL('../../../../README.md', import.meta.url).pathname;
  const denied = ['spawn', 'thread', 'read /etc/passwd', `read ${own}`, `write ${folder}/x`];
  for (const deed of denied) {
    await assert.rejects(tell(deed), /Access to this API has been restricted/, deed);
  }
  assert.deepEqual(readdirSync(folder), []);
});

test('the folder of a parser is gone with it', async (t) => {
  const { tell, parser } = setup(t);
  const { markdown: scratch } = await tell('scratch');
  assert.deepEqual(readdirSync(scratch), ['page']);
  await parser.close();
  assert.ok(!existsSync(scratch));
  assert.ok(scratch.startsWith(join(tmpdir(), 'pawl-parser-')));
});

test('a parser sees none of our environment', async (t) => {
  process.env.PAWL_TEST_SECRET = 'canary';
  t.after(() => delete process.env.PAWL_TEST_SECRET);
  const { tell } = setup(t);
  const seen = JSON.parse((await tell('environment')).markdown);
  assert.deepEqual(Object.keys(seen).sort(), ['LANG', 'OCR_FOLDER', 'PATH', 'TMPDIR']);
});

test('a parser cannot reach the network', async (t) => {
  let connections = 0;
  const server = createServer(() => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const { tell } = setup(t);
  for (const deed of ['connect', 'http', 'fetch', 'listen', 'datagram', 'lookup']) {
    await assert.rejects(tell(`${deed} ${port}`), /may not use the network/, deed);
  }
  assert.equal(connections, 0);
});

test('if the system allows it, a parser has its own network namespace', async (t) => {
  const cage = await findCage();
  if (cage[0] !== 'unshare') return t.skip('this system lets nobody make a network');
  const { tell, parser } = setup(t);
  await tell('count');
  const [pid] = parser.pids();
  const linesOf = (of: number | string | undefined) =>
    readFileSync(`/proc/${of}/net/dev`, 'utf8').trim().split('\n').slice(2);
  assert.deepEqual(linesOf(pid).length, 1, 'nothing but a loopback of its own');
});

for (const deed of [undefined, 'spin']) {
  const what = deed === undefined ? 'waits for work' : 'is at work';
  test(`a parser that ${what} ends when Pawl is killed`, async (t) => {
    useOwnTemporaryFolder(t);
    const program = fileURLToPath(new URL('./fixture/parent.ts', import.meta.url));
    const parent = spawn(process.execPath, deed === undefined ? [program] : [program, deed]);
    t.after(() => parent.kill('SIGKILL'));
    const [told] = await once(parent.stdout, 'data');
    const pid = Number(told);
    t.after(() => existsSync(`/proc/${pid}`) && process.kill(pid, 'SIGKILL'));
    assert.ok(existsSync(`/proc/${pid}`));
    const scratch = readlinkSync(`/proc/${pid}/cwd`);
    parent.kill('SIGKILL');
    await until(() => isGone(pid), { what: `parser ${pid} to end` });
    await until(() => isGone(parent.pid ?? 0), { what: 'its Pawl to be buried' });
    assert.ok(existsSync(scratch), 'nobody was left to remove it');
    await setup(t).tell('count');
    assert.ok(!existsSync(scratch), 'the next one removes it');
  });
}

/** Any Pawl that starts a parser, as in other test files, removes what dead ones have left. */
function useOwnTemporaryFolder(t: TestContext): void {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = temporaryDirectory(t);
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
}

/** Gone, or dead and not yet reaped by its new parent. */
function isGone(pid: number): boolean {
  if (!existsSync(`/proc/${pid}`)) return true;
  return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

test('if the system allows it, more memory is refused without polling', async (t) => {
  const cage = await findCage();
  if (!cage.includes('prlimit')) return t.skip('this system has no prlimit');
  // A clock whose timers never fire: neither time nor memory is polled.
  const blind = { ...realWorld(), setTimer: () => () => undefined };
  const { codeOf, tell } = setup(t, { world: blind });
  assert.equal(await codeOf('bomb'), 'parse_memory');
  assert.equal((await tell('say well')).markdown, 'well');
});

test('closing ends a working parser, and its document fails', async (t) => {
  const { tell, parser } = setup(t);
  await tell('count');
  const [pid] = parser.pids();
  const spinning = assert.rejects(tell('spin'), { code: 'canceled' });
  const waiting = assert.rejects(tell('count'), { code: 'canceled' });
  await parser.close();
  await Promise.all([spinning, waiting]);
  assert.ok(!existsSync(`/proc/${pid}`));
  await assert.rejects(tell('count'), { code: 'canceled' });
});

test('plain text is read without a process, up to its size limit', async (t) => {
  const { parser } = setup(t, { module: undefined });
  const parsed = await parser.parse(
    { bytes: Buffer.from('# A'), mediaType: 'text/markdown', source: 'a.md' },
    never,
  );
  assert.equal(parsed.markdown, '# A');
  assert.deepEqual(parser.pids(), []);
  const bytes = Buffer.alloc(limits.parser.inProcessBytesMax, 'a ');
  await parser.parse({ bytes, mediaType: 'text/plain', source: 'a.txt' }, never);
  assert.equal(parser.pids().length, 1);
});

test('a parser that cannot be loaded is not the fault of the document', async (t) => {
  const { codeOf } = setup(t, { module: 'file:///nowhere/parse.ts' });
  assert.equal(await codeOf('say a'), 'machine_busy');
});

test('an aborted caller does not wait for a process, and the next caller gets it', async (t) => {
  const { tell, parser } = setup(t, {
    module: import.meta.resolve('./fixture/stopped-parser.ts'),
  });
  const abort = new AbortController();
  const first = tell('count', abort.signal);
  await until(() => isStopped(parser.pids()[0]), { what: 'a process that starts' });
  const [pid = 0] = parser.pids();
  abort.abort(new Failure('canceled', 'no longer wanted'));
  await assert.rejects(first, { code: 'canceled' });
  process.kill(pid, 'SIGCONT');
  assert.equal((await tell('count')).meta.pid, pid);
});

test('text is recognized with the model that all parsers share', async (t) => {
  const { parser } = setup(t, { module: undefined });
  const bytes = readFileSync(
    new URL('../../../../test/samples/format/notice.png', import.meta.url),
  );
  const input = { bytes, mediaType: 'image/png', source: 'notice.png' };
  const { markdown } = await parser.parse(input, never);
  assert.ok(markdown.length > 20, markdown);
  const [pid] = parser.pids();
  assert.deepEqual(readdirSync(readlinkSync(`/proc/${pid}/cwd`)), [], 'none of its own');
});
