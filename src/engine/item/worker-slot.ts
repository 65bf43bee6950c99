/** The slot of a run: in this process, or at the service that its steps use. */
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import type { Pipeline, StepPlace } from '../../pipeline/pipeline.ts';

export interface WorkerSlot {
  /** False: there is no free slot, or others wait for it. */
  moveTo(service: StepService): boolean;
}

export interface Seated {
  /** The steps that can run at the current slot. */
  readonly open: readonly string[];
  /** The full service that the other steps need. */
  readonly full?: StepService | undefined;
}

/** Moves to the slot of the next steps, if one is free. Steps that run here need no other slot. */
export async function takeWorkerSlot(
  steps: readonly string[],
  item: StepPlace,
  { pipeline, seat }: { readonly pipeline: Pipeline; readonly seat?: WorkerSlot | undefined },
): Promise<Seated> {
  const { workplaceOf } = pipeline;
  if (!workplaceOf || !seat) return { open: steps };
  const open: string[] = [];
  let full: StepService | undefined;
  for (const step of steps) {
    const service = await workplaceOf(step, item);
    if (service === 'here' || seat.moveTo(service)) open.push(step);
    else full = service;
  }
  return { open, full };
}
