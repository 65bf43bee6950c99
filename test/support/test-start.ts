/**
 * Loaded before a test file. node:test follows every asynchronous operation of the process with a
 * hook, only to name the test behind an uncaught error; that is a quarter of the CPU of a file with
 * many promises. Here its hook does nothing, and the error fails the file instead of the test.
 */
import { isMainThread } from 'node:worker_threads';

// Threads load this file, too, but run no tests.
if (isMainThread) await prepare();

async function prepare(): Promise<void> {
  // Programs that a test forks inherit the others: they end with an uncaught error.
  process.execArgv = process.execArgv.filter((flag) => flag !== `--import=${import.meta.url}`);

  const hooks = process.getBuiltinModule('node:async_hooks');
  const { createHook } = hooks;
  const idle: ReturnType<typeof createHook> = { enable: () => idle, disable: () => idle };
  hooks.createHook = () => idle;
  // It takes the function once, when it is loaded.
  await import('node:test');
  hooks.createHook = createHook;

  const { describe } = await import('./test-reporter.ts');
  const tell = (error: unknown): void => {
    process.send?.({ kind: 'uncaught', detail: describe(error) });
  };
  process.on('uncaughtException', tell);
  process.on('unhandledRejection', tell);
}
