import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { latenciesOf, type Moment, ratesOf, readMetrics, sumOf } from './metrics.ts';

const text = `# HELP queue_depth Items that wait
# TYPE queue_depth gauge
queue_depth{queue="turns"} 3
queue_depth{queue="a \\"b\\""} 1e2
pawl_streams_open 1
`;

const moment = (at: number, more: Partial<Moment>): Moment => ({
  at,
  documents: 0,
  steps: 0,
  requests: 0,
  requestSeconds: 0,
  ...more,
});

describe('the figures of the service', () => {
  test('are read with their labels, and summed over those that are not named', () => {
    const samples = readMetrics(text);
    assert.equal(samples.length, 3);
    assert.equal(sumOf(samples, 'queue_depth', { queue: 'turns' }), 3);
    assert.equal(sumOf(samples, 'queue_depth'), 103);
    assert.equal(sumOf(samples, 'unknown'), 0);
  });

  test('become rates, which do not go below 0 when the service begins anew', () => {
    const moments = [
      moment(0, { steps: 10 }),
      moment(2000, { steps: 30 }),
      moment(4000, { steps: 5 }),
    ];
    assert.deepEqual(ratesOf(moments, 'steps'), [
      { at: 2000, value: 10 },
      { at: 4000, value: 0 },
    ]);
  });

  test('become the time that a request took', () => {
    const moments = [moment(0, {}), moment(1000, { requests: 4, requestSeconds: 0.02 })];
    assert.deepEqual(latenciesOf(moments), [{ at: 1000, value: 5 }]);
  });
});
