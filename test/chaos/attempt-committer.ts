/**
 * A process that stages files, runs an attempt to its commit, and reports when the commit begins.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realWorld } from '../../src/app/world.ts';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { failpointHook } from '../../src/observe/failpoint-hook.ts';

export type CommitterMessage = 'committing' | 'committed';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    files: { type: 'string', default: '' },
    corpus: { type: 'string', default: '' },
    failpoint: { type: 'string' },
  },
});
const hook = values.failpoint === undefined ? undefined : failpointHook(values.failpoint);
const pawl = await open({ data: values.data, work: false, world: realWorld(hook) });
const { attempt } = sessionOf(pawl);
const tell = (message: CommitterMessage): void => void process.send?.(message);
attempt.listen((news) => {
  if (news.kind === 'attempt' && news.view.phase === 'atomic_text_commit') tell('committing');
});
for (const name of readdirSync(values.files).sort()) {
  await attempt.staging.stagePath('local', join(values.files, name));
}
await attempt.start('local', values.corpus);
await attempt.settled();
tell('committed');
await pawl.close();
process.disconnect?.();
