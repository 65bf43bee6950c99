/** Events of the log under the names of the library. */
import type * as schema from '../contract/schema/schema.ts';
import { camelize } from './call/camel.ts';
import { checkNames } from './call/names.ts';
import type { EventOptions } from './options.ts';
import type { Event } from './views.ts';

/**
 * The events until the job ends or Pawl is closed. An aborted signal throws its reason: a loop
 * that ended quietly would look like the end of the job.
 */
export async function* eventsIn(
  what: string,
  options: EventOptions,
  open: () => AsyncGenerator<schema.Event>,
): AsyncGenerator<Event, void, undefined> {
  checkNames(what, options, ['after', 'signal']);
  const { signal } = options;
  signal?.throwIfAborted();
  const { Event: described } = await import('../contract/schema/schema.ts');
  for await (const event of open()) yield camelize(described, event);
  signal?.throwIfAborted();
}
