import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readMetrics, sumOf } from './metrics.ts';

const text = `# HELP queue_depth Items that wait
# TYPE queue_depth gauge
queue_depth{queue="turns"} 3
queue_depth{queue="a \\"b\\""} 1e2
pawl_streams_open 1
`;

describe('the metrics of the service', () => {
  test('are read with their labels, and summed over labels that are not named', () => {
    const samples = readMetrics(text);
    assert.equal(samples.length, 3);
    assert.equal(sumOf(samples, 'queue_depth', { queue: 'turns' }), 3);
    assert.equal(sumOf(samples, 'queue_depth'), 103);
    assert.equal(sumOf(samples, 'unknown'), 0);
  });
});
