/** The pages of docs/generated/, each from the table that it describes. */
import { openApiDocument } from '../src/api/openapi.ts';
import { configPage } from '../src/config.ts';
import { machinesPage } from '../src/kernel/diagram.ts';
import { failuresPage } from '../src/kernel/failure.ts';

export function generatedPages(): Readonly<Record<string, string>> {
  return {
    'machines.md': machinesPage(),
    'config.md': configPage(),
    'failures.md': failuresPage(),
    'openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  };
}
