/** Source code, fenced with its language and titled by its file name. */
import type { Parser } from '../../parsed.ts';
import { fileNameOf, languageOfCode } from '../names.ts';
import { decodeText } from './decode-text.ts';
import { charsetMeta } from './text.ts';

export const parseSourceCode: Parser = async ({ bytes, source, charset: declared }) => {
  const { text, charset, isGuess } = decodeText(bytes, declared);
  const code = text.replaceAll('\r\n', '\n').replace(/^\n+/, '').trimEnd();
  const language = languageOfCode(source) ?? '';
  const markdown = code === '' ? '' : `${fenceOf(code)}${language}\n${code}\n${fenceOf(code)}`;
  return {
    title: fileNameOf(source),
    language: null,
    markdown,
    meta: { ...charsetMeta(charset, isGuess), ...(language !== '' && { code: language }) },
  };
};

/** Longer than any fence inside. */
function fenceOf(code: string): string {
  let longest = 2;
  for (const [run] of code.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  return '`'.repeat(longest + 1);
}
