/**
 * The internal API of the library: the CLI, the service and the tests of this repository see the
 * session behind an open Pawl. The package does not export it.
 */
import { makePawl } from './pawl.ts';
import { Session } from './session.ts';
import type { Pawl } from './surface.ts';

export { Session, type SubmittedJob } from './session.ts';

/** The key of the session. It is no part of the public type. */
const inside = Symbol('session');

type Inside = Pawl & { readonly [inside]: Session };

export function pawlOf(assembled: ConstructorParameters<typeof Session>[0]): Pawl {
  const session = new Session(assembled);
  // Not enumerable, so that a printed Pawl shows its calls only.
  return Object.defineProperty(makePawl(session), inside, { value: session });
}

export function sessionOf(pawl: Pawl): Session {
  return (pawl as Inside)[inside];
}
