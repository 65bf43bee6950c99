import { describe, test } from 'node:test';
import { MemoryWindow } from '../../src/access/limit/window.ts';
import { TestWorld } from '../support/test-world.ts';
import { windowTests } from './rate-window-suite.ts';

describe('a window in memory', () => {
  for (const [title, run] of windowTests) {
    test(title, async () => {
      const world = new TestWorld();
      await run({ world, open: () => new MemoryWindow(world), runs: 500 });
    });
  }
});
