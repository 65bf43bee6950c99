/** The kinds of sources that Pawl brings, and those that a program adds. */
import type { SourceKind } from '../../engine/sync/source-kind.ts';
import { folderKind } from './folder.ts';

/** A kind of a program replaces one of Pawl with the same name. */
export function sourceKinds(more: readonly SourceKind[] = []): ReadonlyMap<string, SourceKind> {
  return new Map([folderKind(), ...more].map((kind) => [kind.name, kind]));
}
