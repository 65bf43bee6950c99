/** The place of an attempt: in the process that made it, or at the service that its steps ask. */
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import type { Pipeline, StepPlace } from '../../pipeline/pipeline.ts';

export interface WorkerSlot {
  /** False: there is no free place, or others wait for it. */
  moveTo(workplace: StepService): boolean;
}

export interface Seated {
  /** The steps that can run where the attempt has its place. */
  readonly open: readonly string[];
  /** Where the others would need one. */
  readonly full?: StepService | undefined;
}

/** Moves to where the steps are done, if there is room. What is done here needs no other place. */
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
    const workplace = await workplaceOf(step, item);
    if (workplace === 'here' || seat.moveTo(workplace)) open.push(step);
    else full = workplace;
  }
  return { open, full };
}
