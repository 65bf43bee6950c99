/** Hostile requests and connections do not block the service for others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { chanceFrom } from '../chaos/chance.ts';
import { firstSeed } from '../support/first-seed.ts';
import { bodies, conditions, readings } from '../support/hostile-inputs.ts';
import {
  fields,
  largeValues,
  misshapenRequests,
  smallValues,
  withValue,
} from '../support/hostile-requests.ts';
import { until } from '../support/wait.ts';
import { HostileScene, json } from './hostile-scene.ts';

const seed = firstSeed(import.meta.url);
/** Each has several megabytes. */
const longRequests = 60;

let scene: HostileScene;
const ends: (() => unknown)[] = [];

before(async () => {
  scene = await HostileScene.open({ after: (run) => void ends.push(run) });
});

after(async () => {
  for (const end of ends.reverse()) await end();
});

describe('a service with hostile clients', () => {
  for (const [title, body] of Object.entries(bodies)) {
    test(`is not blocked by a body with ${title}`, () =>
      scene.free(title, async () => {
        const response = await scene.post('/jobs', body);
        const text = await response.text();
        assert.ok(response.status < 500, `${response.status}: ${text.slice(0, 200)}`);
      }));
  }

  test('is not blocked by read requests', async () => {
    await scene.ingestOrdinary();
    await scene.free('a reading', async () => {
      for (const { path, body } of readings) {
        const asked = body && { method: 'POST', headers: json, body: JSON.stringify(body) };
        const response = await scene.ask(path, asked);
        assert.ok(response.status < 500, `${path.slice(0, 60)}: ${response.status}`);
        await response.text();
      }
    });
  });

  test('is not blocked by misshapen requests for any operation', () =>
    scene.free('a misshapen request', async () => {
      for (const request of misshapenRequests()) await scene.sendHostile(request);
    }));

  test('is not blocked by wrong values in any field of any operation', () =>
    scene.free('a wrong value', async () => {
      for (const field of fields) {
        for (const [title, value] of Object.entries(smallValues)) {
          await scene.sendHostile(withValue(field, title, value));
        }
      }
    }));

  test('is not blocked by long values in fields of any operation', () =>
    scene.free('a long value', async () => {
      const { below } = chanceFrom(seed);
      const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T;
      for (let count = 0; count < longRequests; count += 1) {
        const [title, value] = oneOf(Object.entries(largeValues));
        await scene.sendHostile(withValue(oneOf(fields), title, value()));
      }
    }));

  test('is not blocked by conditions on metadata', async () => {
    const documents = Array.from({ length: 3000 }, (_, n) => ({
      text: `A heron ${n}.`,
      metadata: { year: 2025, [`key${n % 1000}`]: n },
    }));
    const job = { corpus_name: 'tagged', documents };
    await scene.ended(await scene.post('/jobs', JSON.stringify(job)));
    await scene.free('a condition', async () => {
      for (const where of conditions) {
        const body = JSON.stringify({ corpus_name: 'tagged', query: 'heron', filter: { where } });
        const title = `where ${JSON.stringify(where).slice(0, 60)}`;
        await scene.sendHostile({ title, method: 'POST', path: '/search', headers: json, body });
      }
    });
  });

  test('answers while thousands of connections are open', async (t) => {
    const { port } = new URL(scene.address);
    const filesOpen = () => readdirSync(`/proc/${scene.started.child.pid}/fd`).length;
    const before = filesOpen();
    const sockets = Array.from({ length: 4300 }, (_, count) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined).resume();
      if (count % 2 === 0) socket.write('garbage\r\n\r\n');
      t.after(() => socket.destroy());
      return socket;
    });
    await Promise.all(
      sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])),
    );
    await until(async () => (await scene.ask('/healthz')).ok, { what: 'an answer' });
    // Counted by the service, because a client that keeps its half open never sees the other end
    // close.
    await until(() => filesOpen() < before + 100, { what: 'all of them to be closed' });
  });

  test('exits on a signal', async () => {
    scene.started.child.kill('SIGTERM');
    assert.equal((await scene.started.finished).code, 0);
  });
});
