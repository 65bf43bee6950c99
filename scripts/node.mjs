// Runs a program of this clone on Node 24: the Node that started this file, or the pinned one.
//   node scripts/node.mjs test/run.ts --loaded
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { isNodeNewEnough, pinnedNode } from './pinned-node.mjs';

const node = isNodeNewEnough() ? process.execPath : pinnedNode;
const path = `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`;
// The terminal sends Ctrl-C to the program as well, which decides how it ends.
process.on('SIGINT', () => undefined);
const result = spawnSync(node, process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, PATH: path },
});
if (result.error) throw result.error;
process.exitCode = result.status ?? 128 + constants.signals[result.signal];
