import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explain, type ItemView } from './explanation.ts';
import { item } from './lifecycle/item.ts';
import { waits } from './lifecycle/item-wait.ts';

const now = 1_000_000;
const calm: ItemView = {
  step: 'enqueued',
  next: ['fetched'],
  waitsOn: 'turn',
  failedTries: 0,
  triesMax: 4,
  dueAt: null,
  worker: null,
  silentMs: null,
  working: null,
  gate: null,
  gateLimits: null,
  before: 0,
  isBeforeCut: false,
  error: null,
  advice: null,
  now,
};
const branches = ['chunked', 'embedded', 'entity_extracted'];
const embedding = { stage: 'embedding', worker: null, isAway: false };
const missing = {
  step: 'fetched',
  code: 'http_404',
  title: 'The site answered 404',
  kind: 'fatal',
  isOutage: false,
};
const down = { ...missing, code: 'http_5xx', title: 'Server error', kind: 'transient' };
const slow = { ...missing, code: 'http_429', title: 'Too many requests', kind: 'rate_limited' };
const busy = {
  ...slow,
  code: 'service_busy',
  title: 'the chunking service is away',
};
const away = {
  ...missing,
  code: 'qdrant_unavailable',
  title: 'Qdrant unavailable',
  kind: 'transient',
  isOutage: true,
};

const sentences: readonly (readonly [Partial<ItemView>, string])[] = [
  [{}, 'Next in the queue, to be fetched.'],
  [{ before: 1 }, 'In the queue to be fetched, behind one other.'],
  [{ before: 1234 }, 'In the queue to be fetched, behind 1,234 others.'],
  [
    { before: 10_000, isBeforeCut: true },
    'In the queue to be fetched, behind more than 10,000 others.',
  ],
  [{ waitsOn: 'worker', worker: 'w1', silentMs: 900 }, 'Being fetched by worker w1.'],
  [
    {
      waitsOn: 'worker',
      worker: 'w1',
      next: branches,
      working: { step: 'embedded', done: 3, total: 12 },
    },
    'Being chunked, embedded and searched for entities (3 of 12 chunks embedded) ' +
      'by worker w1.',
  ],
  [
    { waitsOn: 'worker', worker: 'w1', silentMs: 60_000 },
    'Being fetched by worker w1, silent for 60 s; another worker takes over within 30 s.',
  ],
  [
    { waitsOn: 'time', failedTries: 1, dueAt: now + 12_000, error: down },
    'Waiting 12 s to be fetched again after http_5xx: try 2 of 4.',
  ],
  [
    { waitsOn: 'time', dueAt: now + 30_000, error: slow },
    'Waiting 30 s to be fetched: Too many requests (http_429). This uses no retry.',
  ],
  [
    {
      waitsOn: 'worker',
      worker: 'w1',
      next: ['embedded'],
      service: { ...embedding, worker: 'e7' },
    },
    'Being embedded by worker e7.',
  ],
  [
    { waitsOn: 'worker', worker: 'w1', next: ['embedded'], service: embedding },
    'In the queue of the embedding workers, to be embedded.',
  ],
  [
    { waitsOn: 'turn', next: ['embedded'], before: 3, service: embedding },
    'In the queue of the embedding workers to be embedded, behind 3 others.',
  ],
  ...(['worker', 'turn'] as const).map((waitsOn): readonly [Partial<ItemView>, string] => [
    { waitsOn, worker: 'w1', next: ['embedded'], service: { ...embedding, isAway: true } },
    'Waiting to be embedded: no worker of the embedding stage is running. ' +
      'It continues when one starts.',
  ]),
  [
    { waitsOn: 'time', dueAt: now + 30_000, error: busy },
    'Waiting 30 s to be fetched: the chunking service is away (service_busy). This uses no retry.',
  ],
  [
    { waitsOn: 'time', failedTries: 2, next: ['persisted'], dueAt: now + 9_000, error: away },
    'Waiting 9 s to be assembled: Qdrant unavailable (qdrant_unavailable). ' +
      'It is checked until the outage ends and uses no retry.',
  ],
  [
    { waitsOn: 'time', dueAt: now + 3_000, gate: 'example.com' },
    'Waiting 3 s to be fetched: rate limit of example.com.',
  ],
  [
    { waitsOn: 'time', failedTries: 3, dueAt: now - 1, error: down },
    'Waiting for a free worker to be fetched again after http_5xx: try 4 of 4.',
  ],
  [
    {
      waitsOn: 'gate',
      gate: 'example.com',
      before: 40,
      gateLimits: { concurrency: 2, intervalMs: 500 },
    },
    'Waiting for a slot at example.com, behind 40 others: 2 pages are fetched at a time, ' +
      'with a delay of 500 ms.',
  ],
  [
    { waitsOn: 'gate', gate: 'example.com', gateLimits: { concurrency: 1, intervalMs: 10_000 } },
    'Waiting for a slot at example.com, first in line: one page is fetched at a time, ' +
      'with a delay of 10 s.',
  ],
  [
    { waitsOn: 'task', next: ['content_extracted'] },
    'Waiting for a batch task at a provider, to be parsed when the task has ended.',
  ],
  [
    { waitsOn: 'person', next: ['indexed'] },
    'Its job is paused; it will be indexed when the job is resumed.',
  ],
  [{ waitsOn: null, step: 'done', next: [] }, 'Searchable.'],
  [
    { waitsOn: null, step: 'failed', error: missing, advice: 'Correct the address.' },
    'Failed while it was fetched (http_404): The site answered 404. Correct the address. ' +
      'Then retry or discard it.',
  ],
  [
    { waitsOn: null, step: 'canceled', next: ['chunked'] },
    'Canceled before it was chunked; retrying its job continues from there.',
  ],
  [
    { waitsOn: null, step: 'persisted' },
    'Stuck at persisted: nothing is scheduled to move it. This is a defect in Pawl.',
  ],
];

describe('the explanation of an item', () => {
  for (const [view, sentence] of sentences) {
    test(sentence, () => assert.equal(explain({ ...calm, ...view }), sentence));
  }

  test('has a sentence for every wait and every step', () => {
    const seen = sentences.map(([view]) => view.waitsOn ?? 'turn');
    assert.deepEqual(
      waits.filter((wait) => !seen.includes(wait)),
      [],
    );
    for (const { step } of item.steps) {
      const sentence = explain({ ...calm, next: [step] });
      assert.doesNotMatch(sentence, /_|brought to/, step);
    }
  });
});
