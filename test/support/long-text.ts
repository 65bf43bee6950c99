/** Text that stays long when it is compressed: each of its lines has a hash of its number. */
import { hash } from 'node:crypto';

export function longText(lines: number, lineOf: (mark: string) => string): string {
  return Array.from({ length: lines }, (_, number) => lineOf(hash('sha256', String(number)))).join(
    '\n',
  );
}
