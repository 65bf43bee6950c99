/** What Pawl relies on in a step, tried on a store of its own. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../index.ts';
import { item } from '../kernel/lifecycle/item.ts';
import type { StepPort } from '../port/step.ts';
import { checkSteps } from '../port/step-check.ts';
import { type Case, type Cleanup, conformance } from './conformance.ts';

export interface StepCase {
  readonly step: StepPort;
  /** A document that the step can work on. */
  readonly document?: { readonly id: string; readonly text: string } | undefined;
  /** What the step has written elsewhere, to compare it after a repetition. */
  written?(): Promise<unknown> | unknown;
}

interface Given extends StepCase {
  readonly data: string;
}

const letter = { id: 'letter', text: '# Letter\n\nMira Novak writes from Oslo. The sea is calm.' };

/** Ingests the document and returns the completed steps. */
async function ingest({ step, document = letter, data }: Given): Promise<readonly string[]> {
  const pawl = await open({ data, steps: [step] });
  try {
    const job = await pawl.ingest([document], { corpus: 'conformance', force: true });
    const completed: string[] = [];
    for await (const { kind, step: name } of job.events()) {
      if (kind === 'step_completed') completed.push(name ?? '');
    }
    const { state, error } = await job.wait();
    assert.equal(state, 'succeeded', JSON.stringify(error));
    assert.ok((await pawl.search('conformance', 'sea letter')).length > 0, 'it is not found');
    return completed;
  } finally {
    await pawl.close();
  }
}

const cases: readonly Case<Given>[] = [
  [
    'it has every member of the port',
    async ({ step }) => {
      checkSteps([step], item.steps);
    },
  ],
  [
    'a document passes it and can be searched',
    async (given) => {
      const { step } = given;
      const completed = await ingest(given);
      assert.ok(completed.includes(step.add ?? step.replace ?? step.wrap));
    },
  ],
  [
    'the same document again leaves the same result',
    async (given) => {
      await ingest(given);
      const before = structuredClone(await given.written?.());
      await ingest(given);
      assert.deepEqual(await given.written?.(), before);
    },
  ],
];

/** Registers the tests of a step with `node:test`. */
export function stepConformance(
  name: string,
  make: (t: Cleanup) => Promise<StepCase> | StepCase,
): void {
  conformance(`the step ${name}`, cases, async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'pawl-step-'));
    t.after(() => rmSync(data, { recursive: true, force: true }));
    return { ...(await make(t)), data };
  });
}
