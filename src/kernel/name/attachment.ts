/** How attached files of a mail are named: as sources of their own documents. */
import { limits } from '../limits/limits.ts';

const mark = '#attachment/';

/** The source of a file attached to a mail, for every kind of mail source. */
export function attachmentSource(mail: string, name: string): string {
  return `${mail}${mark}${name}`;
}

/** The file name, if the source is an attachment. */
export function attachmentNameOf(source: string): string | undefined {
  const at = source.lastIndexOf(mark);
  return at < 0 ? undefined : source.slice(at + mark.length);
}

/**
 * A name without folders, control characters and characters that change how the surrounding text is
 * displayed. Empty if nothing remains.
 */
export function safeFileName(given: string): string {
  const name = given
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[\\/]/g, '_')
    .trim();
  if (/^\.*$/.test(name)) return '';
  // Keep the end of a long name: its extension gives the file type.
  return name.slice(-limits.attachment.nameCharactersMax).toWellFormed().trim();
}
