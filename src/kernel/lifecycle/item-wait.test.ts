import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  endings,
  type ItemMoveName,
  type ItemPlace,
  isCountedWaiting,
  itemActions,
  itemMoveNames,
  itemMoves,
  itemWait,
  placeOfItem,
  waitAt,
  waits,
} from './item-wait.ts';
import { allowedActions, targets } from './machine.ts';

/** Every move from every place, written a second time by hand. What is absent is refused. */
const expected: Readonly<Record<ItemPlace, Partial<Record<ItemMoveName, readonly ItemPlace[]>>>> = {
  turn: {
    claim: ['worker'],
    condemn: ['failed'],
    expire: ['failed'],
    cancel: ['canceled'],
    pause: ['person'],
  },
  worker: {
    advance: ['worker'],
    finish: ['done'],
    delay: ['time'],
    give_back: ['turn'],
    defer: ['task'],
    fail: ['failed'],
    hand_back: ['turn'],
    rescue: ['turn'],
    expire: ['failed'],
    cancel: ['canceled'],
    pause: ['person'],
  },
  time: {
    wake: ['turn', 'gate'],
    expire: ['failed'],
    cancel: ['canceled'],
    pause: ['person'],
  },
  gate: {
    admit: ['turn', 'time'],
    expire: ['failed'],
    cancel: ['canceled'],
    pause: ['person'],
  },
  task: { answer: ['turn', 'person'], expire: ['failed'], cancel: ['canceled'] },
  person: { resume: ['turn', 'gate'], expire: ['failed'], cancel: ['canceled'] },
  done: {},
  failed: {
    retry: ['turn', 'gate', 'person'],
    restart: ['turn', 'gate', 'person'],
    discard: ['canceled'],
  },
  canceled: { restart: ['turn', 'gate', 'person'] },
};

test('every move from every place leads where it must, or nowhere', () => {
  const moves = new Set(Object.values(expected).flatMap((row) => Object.keys(row)));
  assert.deepEqual(
    [...moves].toSorted(),
    itemMoveNames.filter((name) => name !== 'submit').toSorted(),
  );
  for (const place of itemWait.states) {
    for (const move of itemMoveNames) {
      const found = targets(itemWait, place, move);
      assert.deepEqual(found, expected[place][move] ?? [], `${move} from ${place}`);
    }
  }
});

test('a new item waits for its turn, or at its gate', () => {
  assert.deepEqual(itemMoves.submit.from, []);
  assert.deepEqual(itemMoves.submit.to, ['turn', 'gate']);
});

test('a move that takes a lease, gives it or ends the item raises the epoch', () => {
  for (const name of itemMoveNames) {
    const { from, to, epoch } = itemMoves[name];
    const isLeaseMoved = from.includes('worker') !== to.includes('worker');
    if (isLeaseMoved) assert.equal(epoch, 'raise', name);
  }
});

test('only a holder commits steps, and only while its job works', () => {
  for (const name of itemMoveNames) {
    const { by, from, job } = itemMoves[name];
    if (by !== 'holder') continue;
    assert.deepEqual(from, ['worker'], name);
    assert.equal(job, name === 'hand_back' ? 'any' : 'works', name);
  }
});

test('a person may retry and discard a failed item, and nothing else', () => {
  for (const place of itemWait.states) {
    const allowed = place === 'failed' ? ['retry', 'discard'] : [];
    assert.deepEqual(allowedActions(itemWait, place), allowed, place);
    const row = { waits_on: waitAt(place), step: place };
    assert.deepEqual(itemActions(row), allowed, place);
  }
});

test('the place of an item is what it waits on, or how it ended', () => {
  for (const wait of waits) {
    assert.equal(placeOfItem({ waits_on: wait, step: 'fetched' }), wait);
    assert.equal(waitAt(wait), wait);
  }
  for (const step of endings) {
    assert.equal(placeOfItem({ waits_on: null, step }), step);
    assert.equal(waitAt(step), null);
  }
  assert.equal(placeOfItem({ waits_on: null, step: 'fetched' }), undefined);
});

test('an item that waits for the pace of its gate is not counted as waiting', () => {
  assert.ok(isCountedWaiting({ waits_on: 'time', gate_held: 0 }));
  assert.ok(!isCountedWaiting({ waits_on: 'time', gate_held: 1 }));
  assert.ok(!isCountedWaiting({ waits_on: 'turn', gate_held: 0 }));
});
