/** The pages of docs/generated/, each from the table that it describes. */

import { configPage } from '../src/app/settings/config.ts';
import { openApiDocument } from '../src/contract/openapi.ts';
import { failuresPage } from '../src/kernel/failure/failure.ts';
import { machinesPage } from '../src/kernel/lifecycle/diagram.ts';
import { libraryPage } from './library-page.ts';

export function generatedPages(): Readonly<Record<string, string>> {
  return {
    'machines.md': machinesPage(),
    'config.md': configPage(),
    'failures.md': failuresPage(),
    'library.md': libraryPage(),
    'openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  };
}
