/** Where the compiled modules of processes are kept that start by the hundred. */
import { fileURLToPath } from 'node:url';

export const compiled = fileURLToPath(
  new URL('../../node_modules/.cache/compiled', import.meta.url),
);
