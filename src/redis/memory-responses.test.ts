import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realWorld } from '../app/world.ts';
import { limits } from '../kernel/limits/limits.ts';
import { memoryResponses } from './memory-responses.ts';

function setup() {
  let now = 0;
  const answers = memoryResponses({ ...realWorld(), now: () => now });
  const ahead = (timeMs: number): void => {
    now += timeMs;
  };
  return { answers, ahead };
}

test('a response in memory is kept until it expires or is removed', async () => {
  const { answers, ahead } = setup();
  await answers.write('a', 'one');
  await answers.write('b', 'two');
  await answers.remove('b');
  ahead(limits.handoff.softMs - 1);
  assert.deepEqual([await answers.read('a'), await answers.read('b')], ['one', undefined]);
  ahead(1);
  assert.equal(await answers.read('a'), undefined);
});

test('responses in memory are bounded: large ones are dropped, the oldest evicted', async () => {
  const { answers } = setup();
  const { keptCharactersMax: most, memoryCharactersMax: all } = limits.handoff;
  await answers.write('huge', 'x'.repeat(most + 1));
  assert.equal(await answers.read('huge'), undefined);
  const large = 'x'.repeat(most);
  const fit = Math.floor(all / most);
  for (let place = 0; place <= fit; place += 1) await answers.write(String(place), large);
  assert.equal(await answers.read('0'), undefined);
  assert.equal(await answers.read('1'), large);
  assert.equal(await answers.read(String(fit)), large);
});
