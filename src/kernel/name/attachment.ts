/** How the files of a mail are named: as sources of documents of their own. */
import { limits } from '../limits/limits.ts';

const mark = '#attachment/';

/** The source of a file that is attached to a mail, whatever the mail's own source is. */
export function attachmentSource(mail: string, name: string): string {
  return `${mail}${mark}${name}`;
}

/** The name of the file, if the source is that of an attachment. */
export function attachmentNameOf(source: string): string | undefined {
  const at = source.lastIndexOf(mark);
  return at < 0 ? undefined : source.slice(at + mark.length);
}

/**
 * A name without folders, without control characters and without characters that change how the
 * text around them is shown. Empty where nothing is left of it.
 */
export function safeFileName(given: string): string {
  const name = given
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[\\/]/g, '_')
    .trim();
  if (/^\.*$/.test(name)) return '';
  // The end of a long name says what kind of file it is.
  return name.slice(-limits.attachment.nameCharactersMax).toWellFormed().trim();
}
