/** Loads the settings of a command: flags, the environment, `.env`, and the configuration file. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import {
  type LoadedConfig,
  readConfigFile,
  readSettings,
  type VariableFile,
} from '../app/settings/config.ts';
import { type Flags, textOf, usageError } from './command.ts';

const standardFile = '.env';

/** `isTolerant`: an invalid setting keeps its default, and its error is in `read`. */
export function loadSettings(
  flags: Flags,
  { isTolerant = false }: { readonly isTolerant?: boolean | undefined } = {},
): LoadedConfig {
  const loaded = readSettings({
    environment: process.env,
    envFile: readEnvFile(textOf(flags, 'env-file')),
    file: readConfigFile(process.cwd()),
    flags: {
      data: textOf(flags, 'data'),
      host: textOf(flags, 'host'),
      port: textOf(flags, 'port'),
      role: textOf(flags, 'role'),
    },
  });
  const wrong = loaded.read.find(({ error }) => error !== undefined);
  if (wrong?.error && !isTolerant) throw wrong.error;
  return loaded;
}

/**
 * The variables of the named file, or of `.env` in the working directory if there is one. Node
 * looks for `--env-file` in the arguments of every program, and itself refuses a missing file.
 */
function readEnvFile(named: string | undefined): VariableFile | undefined {
  const path = named ?? standardFile;
  try {
    const text = readFileSync(path, 'utf8');
    return { name: path, variables: parseEnv(text) as VariableFile['variables'] };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isAbsent = code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR';
    if (named === undefined && isAbsent) return undefined;
    const how = 'Check the path, and that it is a file that this user may read.';
    throw usageError(`${resolve(path)} cannot be read (${code})`, how);
  }
}
