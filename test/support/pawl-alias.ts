/** Lets a program in this repository import `pawl` as users do: `node --import` this file. */
import { registerHooks } from 'node:module';

const root = new URL('../../', import.meta.url);
const entries: Readonly<Record<string, string>> = {
  pawl: 'src/index.ts',
  'pawl/client': 'src/client/http.ts',
  'pawl/testing': 'src/testing/index.ts',
  'pawl/langchain': 'src/framework/langchain.ts',
  'pawl/llamaindex': 'src/framework/llamaindex.ts',
  'pawl/ai': 'src/framework/ai.ts',
};

registerHooks({
  resolve: (specifier, context, next) => {
    const entry = entries[specifier];
    return next(entry === undefined ? specifier : new URL(entry, root).href, context);
  },
});
