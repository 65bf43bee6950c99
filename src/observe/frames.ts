/** Where an error was thrown, without the folders of this machine. */
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** An absolute path in a frame: after the bracket, or after `at`. */
const place = /(?<=\(|\bat |\basync )(?:file:\/\/)?(?:\/?[A-Za-z]:)?[\\/][^()\n]*/g;

/** The frames of a stack, with paths relative to Pawl or its packages, or without a folder. */
export function framesOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.replace(place, shorten))
    .join('\n');
}

function shorten(given: string): string {
  const path = given.replace(/^file:\/\//, '').replaceAll('\\', '/');
  const start = path.indexOf(root.replaceAll('\\', '/'));
  if (start >= 0) return path.slice(start + root.length);
  const packages = path.indexOf('node_modules/');
  return packages >= 0 ? path.slice(packages) : path.slice(path.lastIndexOf('/') + 1);
}
