/** A sink that a user plugs in: it holds a copy of the documents, and may answer searches. */
import { Failure } from '../kernel/failure/failure.ts';
import {
  aFunction,
  aName,
  checkPort,
  type MemberChecks,
  oneOf,
  orAbsent,
} from '../kernel/port-check.ts';
import type { Sink, VectorSink } from '../sink/sink.ts';
import { callPort } from './port-call.ts';

type Needed = Pick<Sink, 'name' | 'keeps' | 'write' | 'settle' | 'tidy'>;

export interface SinkPort extends Needed, Partial<Omit<VectorSink, keyof Needed>> {}

const checks: MemberChecks<SinkPort> = {
  name: aName,
  keeps: oneOf('vectors', 'entities'),
  write: aFunction,
  settle: aFunction,
  tidy: aFunction,
  size: orAbsent(aFunction),
  check: orAbsent(aFunction),
  close: orAbsent(aFunction),
  nearest: orAbsent(aFunction),
};

/** Two sinks with one name would share the record of what was delivered. */
export function checkSinks(values: unknown, taken: readonly string[] = []): readonly SinkPort[] {
  if (!Array.isArray(values)) {
    throw new Failure('usage_error', 'open({ sinkAdapters }) must be a list of sinks');
  }
  const names = new Set(taken);
  return values.map((value, place) => {
    const from = `open({ sinkAdapters }), entry ${place},`;
    const sink = checkPort<SinkPort>(value, checks, { from, what: 'sink' });
    if (names.has(sink.name)) {
      const message = `there are two sinks ${sink.name}: give one of them another name`;
      throw new Failure('usage_error', message);
    }
    names.add(sink.name);
    return sink;
  });
}

/** Without `size`, Pawl cannot notice that the sink has lost its content. */
export function pluggedSink(port: SinkPort): Sink | VectorSink {
  const { name, keeps } = port;
  const call = <T>(method: string, run: () => Promise<T> | T, signal?: AbortSignal): Promise<T> =>
    callPort(`${method} of the sink ${name}`, run, signal);
  const sink: Sink = {
    name,
    keeps,
    write: (generation, models, signal) =>
      call('write', () => port.write(generation, models, signal), signal),
    settle: (state, signal) => call('settle', () => port.settle(state, signal), signal),
    tidy: (kept, signal) => call('tidy', () => port.tidy(kept, signal), signal),
    size: (of, signal) =>
      call('size', () => port.size?.(of, signal) ?? Number.POSITIVE_INFINITY, signal),
    check: (signal) => call('check', () => port.check?.(signal) ?? name, signal),
    close: async () => port.close?.(),
  };
  if (!port.nearest) return sink;
  return {
    ...sink,
    nearest: (request, signal) => call('nearest', () => port.nearest?.(request, signal), signal),
  };
}

export function isSearched(sink: Sink): sink is VectorSink {
  return 'nearest' in sink;
}
