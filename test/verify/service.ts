/** A Pawl with documents, as a process of its own, for testers that come from outside. */
import { once } from 'node:events';
import { openRunner } from '../e2e/pawl-process.ts';
import { freePort } from '../support/server.ts';
import type { Cleanup } from '../support/temporary.ts';

export interface RunningService {
  readonly url: string;
  /** Its store: another process may open it, too. */
  readonly data: string;
}

export async function startService(t: Cleanup): Promise<RunningService> {
  const runner = openRunner(t);
  const port = await freePort();
  const data = `${runner.folder}/data`;
  const environment = { PAWL_DATA: data };
  const lifeMs = 60 * 60_000;
  runner.write('notes/walrus.md', '# Walrus\n\nThe walrus sleeps on the ice.\n');
  const submitted = ['ingest', 'notes', '--corpus', 'notes'];
  const { code, stderr } = await runner.run(submitted, { environment });
  if (code !== 0) throw new Error(`pawl ingest ended with ${code}: ${stderr}`);
  const args = ['serve', '--port', String(port), '--no-sample'];
  const service = runner.start(args, { environment, lifeMs });
  await service.seen(/listens on/);
  t.after(async () => {
    service.child.kill('SIGTERM');
    if (service.child.exitCode === null) await once(service.child, 'exit');
  });
  return { url: `http://127.0.0.1:${port}`, data };
}
