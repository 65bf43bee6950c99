/** For tests of whole processes: kills or stops this process at a named failpoint. */
import { Failure } from '../kernel/failure/failure.ts';
import { batchFailpoints, failpoints, handoffFailpoints, syncFailpoints } from './failpoint.ts';

const signals: Readonly<Record<string, NodeJS.Signals>> = { kill: 'SIGKILL', stop: 'SIGSTOP' };

/** Reads `name:kill[:nth]` or `name:stop[:nth]`; `nth` counts the times the point is passed. */
export function failpointHook(text: string): (name: string) => void {
  const [name = '', action = '', nth = '1'] = text.split(':');
  const signal = signals[action];
  const count = Number(nth);
  const all = [...failpoints, ...batchFailpoints, ...handoffFailpoints, ...syncFailpoints];
  const isKnown = all.some((known) => known === name);
  if (!isKnown || !signal || !Number.isInteger(count) || count < 1) {
    const names = all.join(', ');
    const message = `the failpoint ${text} is not NAME:kill or NAME:stop[:NTH]; names: ${names}`;
    throw new Failure('usage_error', message);
  }
  let passed = 0;
  return (at) => {
    if (at !== name) return;
    passed += 1;
    if (passed === count) process.kill(process.pid, signal);
  };
}
