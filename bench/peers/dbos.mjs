/** DBOS Transact on Postgres: workflows of eight steps that do nothing, each step stored. */
import { setTimeout as pause } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { answer } from '../measure/child.ts';
import { costOf, noiseOf, rate, spread } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';

const steps = 8;
const atOnce = 64;
const connections = 20;
const idleMs = 2;
const warmUps = 20;
const silent = { info() {}, debug() {}, warn() {}, error: console.error };

await answer(measure);

async function measure({ store: { url, serverPid }, documents, lone }) {
  const moment = { begun: 0 };
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    systemDatabasePoolSize: connections,
    logger: silent,
    tracingEnabled: false,
  });
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (let step = 0; step < steps; step++) {
        const work = async () => {
          if (step === 0) moment.begun = performance.now();
          return step;
        };
        await DBOS.runStep(work, { name: `step${step}` });
      }
    },
    { name: 'document' },
  );
  await DBOS.launch();
  const runOne = async () => (await DBOS.startWorkflow(workflow)()).getResult();
  for (let index = 0; index < warmUps; index++) await runOne();

  let left = documents;
  const runSome = async () => {
    while (left-- > 0) await runOne();
  };
  const usage = await measured(
    () => Promise.all(Array.from({ length: atOnce }, runSome)),
    serverPid,
  );
  const begun = [];
  const done = [];
  const usageAlone = await measured(async () => {
    for (let index = 0; index < lone; index++) {
      await pause(idleMs);
      const startedAt = performance.now();
      await runOne();
      done.push(performance.now() - startedAt);
      begun.push(moment.begun - startedAt);
    }
  }, serverPid);
  const note = `${atOnce} at once, ${connections} connections`;
  return [
    rate('documents', documents, usage, note),
    spread('alone', done, costOf(lone, usageAlone)),
    spread('begun', begun, noiseOf(usageAlone)),
  ];
}
