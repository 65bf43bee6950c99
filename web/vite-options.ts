/**
 * How the workbench is built. The result is committed, so it must come out the same, byte for byte,
 * wherever it is built: nothing here depends on the machine, the folder or the time.
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
