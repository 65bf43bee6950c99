/** The slot of a run: in this process, or at the service that its steps use. */
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import type { Pipeline, StepPlace } from '../../pipeline/pipeline.ts';

export interface WorkerSlot {
  /** False: there is no free slot, or others wait for it. */
  moveTo(service: StepService): boolean;
}

export interface RunnableSteps {
  /** The steps that can run at the current slot. */
  readonly open: readonly string[];
  /** The full service that the other steps need. */
  readonly full?: StepService | undefined;
}

/** Moves to the slot of the next steps, if one is free. Steps that run here need no other slot. */
export async function takeWorkerSlot(
  steps: readonly string[],
  item: StepPlace,
  { pipeline, slot }: { readonly pipeline: Pipeline; readonly slot?: WorkerSlot | undefined },
): Promise<RunnableSteps> {
  const { serviceOf } = pipeline;
  if (!serviceOf || !slot) return { open: steps };
  const open: string[] = [];
  let full: StepService | undefined;
  for (const step of steps) {
    const service = await serviceOf(step, item);
    if (service === 'here' || slot.moveTo(service)) open.push(step);
    else full = service;
  }
  return { open, full };
}
