/** What starts the command `pawl`: the bundle of `npm test`, or else its source. */
import { fileURLToPath } from 'node:url';

export const bundleVariable = 'TEST_PAWL';

export const pawlSource = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export const pawlProgram = process.env[bundleVariable] ?? pawlSource;
