// The Node that a clone runs on where the system's is too old to run TypeScript as it is.
import { fileURLToPath } from 'node:url';

const oldestMajor = 24;
const executable = process.platform === 'win32' ? 'node.exe' : 'node';

export const pinnedNodeFolder = fileURLToPath(new URL('node', import.meta.url));
export const pinnedNode = fileURLToPath(
  new URL(`node/node_modules/node/bin/${executable}`, import.meta.url),
);

const packages = fileURLToPath(new URL('../node_modules/', import.meta.url));

/** A Node among the packages comes from an earlier version; the next install removes it. */
export function isNodeNewEnough() {
  if (process.execPath.startsWith(packages)) return false;
  return Number.parseInt(process.versions.node, 10) >= oldestMajor;
}
