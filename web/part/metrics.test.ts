import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  depthsOf,
  latenciesOf,
  type Moment,
  momentOf,
  ratesOf,
  readMetrics,
  sumOf,
} from './metrics.ts';

const text = `# HELP queue_depth Items that wait
# TYPE queue_depth gauge
queue_depth{queue="turns"} 3
queue_depth{queue="a \\"b\\""} 1e2
pawl_streams_open 1
`;

const moment = (at: number, more: Partial<Moment>): Moment => ({
  ...momentOf([], at),
  ...more,
});

describe('the metrics of the service', () => {
  test('are read with their labels, and summed over labels that are not named', () => {
    const samples = readMetrics(text);
    assert.equal(samples.length, 3);
    assert.equal(sumOf(samples, 'queue_depth', { queue: 'turns' }), 3);
    assert.equal(sumOf(samples, 'queue_depth'), 103);
    assert.equal(sumOf(samples, 'unknown'), 0);
  });

  test('become rates, which do not drop below 0 when the service restarts', () => {
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

  test('become the duration of a request', () => {
    const moments = [moment(0, {}), moment(1000, { requests: 4, requestSeconds: 0.02 })];
    assert.deepEqual(latenciesOf(moments, 'request'), [{ at: 1000, value: 5 }]);
    assert.deepEqual(latenciesOf(moments, 'search'), [{ at: 1000, value: 0 }]);
  });

  test('separate queries from documents, and add up all queues', () => {
    const name = 'embedding_request_duration_seconds';
    const samples = readMetrics(
      `${name}_count{operation="read"} 2\n${name}_sum{operation="read"} 0.5\n` +
        `${name}_count{operation="write"} 7\n${text}`,
    );
    const { searches, searchSeconds, embeddings, waiting } = momentOf(samples, 1);
    assert.deepEqual([searches, searchSeconds, embeddings, waiting], [2, 0.5, 7, 103]);
    assert.deepEqual(depthsOf([momentOf(samples, 1)]), [{ at: 1, value: 103 }]);
  });
});
