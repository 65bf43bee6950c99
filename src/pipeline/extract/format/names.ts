/** The type of a file by its name, or by the path of its address. */
import { attachmentNameOf } from '../../../kernel/name/attachment.ts';

/** Languages by file extension; the name is the one that follows a code fence. */
const codeExtensions: Readonly<Record<string, string>> = {
  bash: 'sh bash zsh ksh',
  c: 'c h',
  clojure: 'clj cljs cljc edn',
  cpp: 'cc cpp cxx hh hpp hxx ino',
  csharp: 'cs csx',
  css: 'css',
  dart: 'dart',
  diff: 'diff patch',
  dockerfile: 'dockerfile',
  elixir: 'ex exs',
  elm: 'elm',
  erlang: 'erl hrl',
  fortran: 'f f90 f95 for',
  fsharp: 'fs fsx fsi',
  go: 'go',
  graphql: 'graphql gql',
  groovy: 'groovy gradle',
  haskell: 'hs lhs',
  hcl: 'tf hcl',
  ini: 'ini cfg conf properties env',
  java: 'java',
  javascript: 'js cjs mjs',
  jsx: 'jsx',
  julia: 'jl',
  kotlin: 'kt kts',
  less: 'less',
  lisp: 'lisp lsp el scm rkt',
  lua: 'lua',
  makefile: 'mk makefile',
  matlab: 'matlab',
  nim: 'nim',
  nix: 'nix',
  objectivec: 'm mm',
  ocaml: 'ml mli',
  pascal: 'pas pp dpr',
  perl: 'pl pm',
  php: 'php phtml',
  powershell: 'ps1 psm1',
  protobuf: 'proto',
  python: 'py pyi pyw',
  r: 'r',
  ruby: 'rb rake gemspec',
  rust: 'rs',
  sass: 'sass',
  scala: 'scala sc sbt',
  scss: 'scss',
  sql: 'sql',
  svelte: 'svelte',
  swift: 'swift',
  tcl: 'tcl',
  toml: 'toml',
  tsx: 'tsx',
  typescript: 'ts mts cts',
  vb: 'vb bas vbs',
  verilog: 'v sv',
  vhdl: 'vhd vhdl',
  vue: 'vue',
  yaml: 'yaml yml',
  zig: 'zig',
};

const languageByExtension: ReadonlyMap<string, string> = new Map(
  Object.entries(codeExtensions).flatMap(([language, extensions]) =>
    extensions.split(' ').map((extension): [string, string] => [extension, language]),
  ),
);

/** The last part of a path or a URL, for display. */
export function fileNameOf(source: string): string {
  const attached = attachmentNameOf(source);
  if (attached !== undefined) return attached;
  // In a file name, `#` and `?` are ordinary characters: `C#.md`.
  const [, address] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)/i.exec(source) ?? [];
  const path = address ?? source;
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? source;
}

/** Lower case, without the dot. For a name without a dot, such as `Makefile`, it is the name. */
export function extensionOf(source: string): string {
  const name = fileNameOf(source).toLowerCase();
  return name.slice(name.lastIndexOf('.') + 1);
}

export function languageOfCode(source: string): string | undefined {
  return languageByExtension.get(extensionOf(source));
}
