/**
 * A process that asks Pawl and the control for a sign of life, each every 50 ms if the last answer
 * is there, until its stdin ends. Then it prints, in milliseconds, what it waited for each.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

const intervalMs = 50;
const lateMs = 500;
const [pawl = '', control = ''] = process.argv.slice(2);
let isOver = false;

interface Wait {
  readonly from: number;
  readonly to: number;
}

const [ofPawl, ofControl] = await Promise.all([
  waitsFor(`${pawl}/healthz`),
  waitsFor(control),
  over(),
]);
// What the control does not answer at the same time is not the fault of Pawl.
const alone = ofPawl.map(({ from, to }) => {
  const beside = ofControl.filter((other) => other.to >= from && other.from <= to);
  return to - from - Math.max(0, ...beside.map((other) => other.to - other.from));
});
process.stdout.write(
  `${JSON.stringify({
    pawl: summary(ofPawl),
    control: summary(ofControl),
    worstAlone: Math.max(0, ...alone),
    lateAlone: alone.filter((ms) => ms > lateMs).length,
  })}\n`,
);

async function waitsFor(address: string): Promise<Wait[]> {
  const waits: Wait[] = [];
  while (!isOver) {
    const from = performance.now();
    // A kept connection may be closed at the moment when it is used again.
    await (await fetch(address, { headers: { connection: 'close' } })).text();
    const to = performance.now();
    waits.push({ from, to });
    await pause(Math.max(0, intervalMs - (to - from)));
  }
  return waits;
}

async function over(): Promise<void> {
  process.stdin.resume();
  await once(process.stdin, 'end');
  isOver = true;
}

function summary(waits: readonly Wait[]) {
  const times = waits.map(({ from, to }) => to - from).sort((one, other) => one - other);
  return {
    asked: times.length,
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    worstMs: times.at(-1) ?? 0,
    late: times.filter((ms) => ms > lateMs).length,
  };
}
