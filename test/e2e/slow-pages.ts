/**
 * Slow pages, to find tests that read a page before it shows what they expect: each request of a
 * page is held for a random time before it is sent, and the CPU of the page is throttled.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { Random } from '../simulation/random.ts';
import { givenSeed, randomSeed } from '../support/first-seed.ts';
import { slowPagesVariable } from '../support/load.ts';

const isSlow = process.env[slowPagesVariable] === '1';
const random = new Random(givenSeed() ?? randomSeed());

/** Of the requests; the others overtake those that are held. */
const heldShare = 0.7;
const heldMsMax = 400;
const cpuSlowdown = 4;

/** Routes of a test come before this one. A response is not held, so a stream flows as it is. */
export async function slowDown(page: Page): Promise<void> {
  if (!isSlow) return;
  const context = page.context();
  await context.route('**/*', async (route) => {
    if (random.chance(heldShare)) await pause(random.whole(1, heldMsMax));
    await route.continue();
  });
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
}
