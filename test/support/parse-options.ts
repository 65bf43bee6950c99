/** Options of the commands of this repository, such as `npm run chaos`. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What the shell calls a usage error. */
const usageExitCode = 64;

/** Like `parseArgs`, but arguments that it refuses end the process with one line. */
export function parseOptions<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('ERR_PARSE_ARGS_')) throw error;
    const names = Object.keys(config.options ?? {}).map((name) => `--${name}`);
    const [reason] = message.split(/\.?(?:\n|\. |$)/);
    console.error(`${reason}. Options: ${names.join(', ')}.`);
    process.exit(usageExitCode);
  }
}
