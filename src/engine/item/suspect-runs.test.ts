import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestWorld } from '../../../test/support/test-world.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { Solitude } from './suspect-runs.ts';

const { aloneMsMin, crashesMin, drainMsMin, uptimesMs } = limits.suspect;
const fresh = { hasTurn: true, suspectLoneDeaths: 0 };
const none = { hasTurn: true, suspectLoneDeaths: undefined };

function setup() {
  const world = new TestWorld();
  let wakes = 0;
  const wake = (): void => {
    wakes += 1;
  };
  const solitude = new Solitude({ world, wake });
  solitude.start();
  return { world, solitude, wakes: () => wakes };
}

describe('solitude', () => {
  test('takes a suspect only while idle, and claims nothing beside it until it ends', () => {
    const { solitude } = setup();
    assert.equal(solitude.next(fresh, 0), 'suspect');
    const end = solitude.begin(crashesMin);
    assert.equal(solitude.next(none, 1), 'nothing');
    end();
    assert.equal(solitude.next(none, 0), 'turns');
  });

  test('claims others beside a slow suspect, later the more workers died', async () => {
    const { world, solitude, wakes } = setup();
    for (const [crashes, alone] of [
      [crashesMin, aloneMsMin],
      [crashesMin + 2, 4 * aloneMsMin],
    ] as const) {
      const end = solitude.begin(crashes);
      await world.advance(alone - 1);
      assert.equal(solitude.next(none, 1), 'nothing');
      const before = wakes();
      await world.advance(1);
      assert.ok(wakes() > before, 'somebody is to look');
      assert.equal(solitude.next(none, 1), 'turns');
      end();
    }
  });

  test('the end of an earlier suspect does not end the exclusive run of the next', async () => {
    const { world, solitude } = setup();
    const end = solitude.begin(crashesMin);
    await world.advance(aloneMsMin);
    solitude.begin(crashesMin);
    end();
    assert.equal(solitude.next(none, 1), 'nothing');
  });

  test('empties its slots for a suspect, works as long, tries for twice the time', async () => {
    const { world, solitude } = setup();
    for (const ms of [drainMsMin, 2 * drainMsMin, 4 * drainMsMin]) {
      assert.equal(solitude.next(fresh, 3), 'nothing', `${ms} ms`);
      await world.advance(ms - 1);
      assert.equal(solitude.next(fresh, 1), 'nothing', 'they are not empty yet');
      await world.advance(1);
      assert.equal(solitude.next(fresh, 1), 'turns', 'others do not wait longer');
      await world.advance(ms);
    }
    assert.equal(solitude.next(fresh, 0), 'suspect');
  });

  test('continues as soon as another worker has taken the suspect', () => {
    const { solitude } = setup();
    assert.equal(solitude.next(fresh, 3), 'nothing');
    assert.equal(solitude.next(none, 3), 'turns');
  });

  test('takes an item that was alone at deaths only after surviving without it', async () => {
    const { world, solitude, wakes } = setup();
    for (const [loneDeaths, uptimeMs] of uptimesMs.entries()) {
      const work = { hasTurn: true, suspectLoneDeaths: loneDeaths };
      if (uptimeMs > 0) assert.equal(solitude.next(work, 0), 'turns', `${loneDeaths} too early`);
      const before = wakes();
      await world.advance(uptimeMs - (uptimesMs[loneDeaths - 1] ?? 0));
      assert.equal(solitude.next(work, 0), 'suspect', `${loneDeaths} in time`);
      assert.equal(wakes() > before, uptimeMs > 0);
    }
  });

  test('leaves no timer behind', () => {
    const { world, solitude } = setup();
    solitude.next(fresh, 1);
    solitude.begin(crashesMin);
    solitude.stop();
    assert.equal(world.pendingTimers, 0);
  });
});
