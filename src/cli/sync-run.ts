/** Follows a run of a source, and then the jobs that it submitted. */
import { setTimeout as pause } from 'node:timers/promises';
import type { SyncRun } from '../contract/schema/source.ts';
import { job as jobMachine, jobState } from '../kernel/lifecycle/job.ts';
import { isFinal } from '../kernel/lifecycle/machine.ts';
import { isFinalRun, syncRunState } from '../kernel/lifecycle/sync-run.ts';
import { type Call, exits } from './command.ts';
import type { PawlClient } from './pawl-client.ts';
import { follow } from './view/follow.ts';
import { printHeld, runLine } from './view/sync.ts';

const pollMs = 100;

/** Begins a run, and waits for its end. Undefined: the command was interrupted. */
export async function runSource(
  call: Call,
  pawl: PawlClient,
  { name, plan = false }: { readonly name: string; readonly plan?: boolean },
): Promise<SyncRun | undefined> {
  const body = { plan };
  const { run_id } = await pawl.ask('POST /sources/:name/run', { params: { name }, body });
  return untilEnded(call, pawl, { name, runId: run_id });
}

export async function untilEnded(
  call: Call,
  { ask }: PawlClient,
  { name, runId }: { readonly name: string; readonly runId: number },
): Promise<SyncRun | undefined> {
  const params = { name, run: String(runId) };
  while (!call.interrupt.aborted) {
    const run = await ask('GET /sources/:name/runs/:run', { params });
    if (isFinalRun(run.state) || run.state === syncRunState.held) return run;
    await pause(pollMs, undefined, { signal: call.interrupt }).catch(() => undefined);
  }
  return undefined;
}

/** Prints the run, and follows its jobs. Returns the exit code. */
export async function tellRun(call: Call, pawl: PawlClient, run: SyncRun): Promise<number> {
  const { terminal, isJson } = call;
  if (isJson) terminal.print(JSON.stringify(run));
  else terminal.print(runLine(terminal, run));
  let exit: number = exits.well;
  for (const id of [...(await unfinishedJobs(pawl, run)), ...run.job_ids]) {
    const job = await pawl.job(id);
    exit = Math.max(exit, await follow(call, job, { after: 0 }));
  }
  if (run.state === syncRunState.held && !isJson) printHeld(terminal, run);
  const isWell = run.state === syncRunState.succeeded;
  return isWell ? exit : Math.max(exit, exits.error);
}

/** Jobs of earlier runs that a killed or interrupted process left. */
async function unfinishedJobs(pawl: PawlClient, { source, run_id }: SyncRun): Promise<string[]> {
  const query = { limit: 10 };
  const { items } = await pawl.ask('GET /sources/:name/runs', { params: { name: source }, query });
  const unfinished: string[] = [];
  for (const id of items.filter((run) => run.run_id !== run_id).flatMap((run) => run.job_ids)) {
    const { state } = await (await pawl.job(id)).counts();
    if (!isFinal(jobMachine, state) && state !== jobState.paused) unfinished.push(id);
  }
  return unfinished;
}
