/** Where an error was thrown, without the folders of this machine. */
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** An absolute path in a frame: behind the bracket, or behind `at`. */
const place = /(?<=\(|\bat |\basync )(?:file:\/\/)?(?:\/?[A-Za-z]:)?[\\/][^()\n]*/g;

/** The frames of a stack, with paths from the folder of Pawl, of its packages, or none. */
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
