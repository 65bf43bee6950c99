/** The real world: the system's clock, timers and randomness. */
import { randomUUID } from 'node:crypto';
import type { World } from '../kernel/world.ts';

export function realWorld(failpoint?: (name: string) => void): World {
  return {
    now: () => Date.now(),
    setTimer: (run, delayMs) => {
      // Node's timers overflow above this: the caller checks the time again and waits on.
      const timer = setTimeout(run, Math.min(delayMs, 2 ** 31 - 1));
      return () => clearTimeout(timer);
    },
    afterTurn: (run) => void setImmediate(run),
    random: Math.random,
    uuid: randomUUID,
    ...(failpoint && { failpoint }),
  };
}
