/**
 * The build of the workbench. Its output is committed, so the build must be reproducible byte for
 * byte: nothing here depends on the machine, the folder or the time.
 */
import { fileURLToPath } from 'node:url';
import type { InlineConfig } from 'vite';

export function viteOptions(outDir: string): InlineConfig {
  return {
    configFile: false,
    root: fileURLToPath(new URL('.', import.meta.url)),
    base: './',
    mode: 'production',
    logLevel: 'error',
    envDir: false,
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  };
}
