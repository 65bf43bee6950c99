/**
 * The formats that Pawl reads. A library is loaded with the first document of its format, so a
 * corpus of web pages does not load the others.
 */
import { loadOnce } from '../../../concurrency/load-once.ts';
import type { Parser } from '../parsed.ts';
import { extensionOf, languageOfCode } from './names.ts';

export interface Format {
  /** As in “a page”, “an EPUB”. */
  readonly name: string;
  readonly mediaTypes: readonly string[];
  readonly extensions: readonly string[];
  readonly load: () => Promise<Parser>;
}

const office = 'application/vnd.openxmlformats-officedocument';
const oasis = 'application/vnd.oasis.opendocument';

const format = (
  name: string,
  types: { readonly is: string; readonly ends: string },
  load: () => Promise<Parser>,
): Format => ({
  name,
  mediaTypes: types.is.split(' '),
  extensions: types.ends === '' ? [] : types.ends.split(' '),
  load: loadOnce(load),
});

const loadPicture = async (): Promise<Parser> => (await import('./image/picture.ts')).parsePicture;
const loadOpenDocument = async (): Promise<Parser> =>
  (await import('./office/opendocument.ts')).parseOpenDocument;

export const formats: readonly Format[] = [
  format(
    'a web page',
    { is: 'text/html application/xhtml+xml', ends: 'html htm xhtml' },
    async () => (await import('./xml/html.ts')).parseHtml,
  ),
  format(
    'Markdown',
    { is: 'text/markdown', ends: 'md markdown mdx mkd' },
    async () => (await import('./text/text.ts')).parseMarkdown,
  ),
  format(
    'plain text',
    { is: 'text/plain', ends: 'txt text log rst adoc org tex' },
    async () => (await import('./text/text.ts')).parseText,
  ),
  format(
    'subtitles',
    { is: 'text/vtt application/x-subrip', ends: 'vtt' },
    async () => (await import('./text/subtitles.ts')).parseSubtitles,
  ),
  format(
    'a table of separated values',
    { is: 'text/csv text/tab-separated-values', ends: 'csv' },
    async () => (await import('./text/csv.ts')).parseCsv,
  ),
  format(
    'JSON',
    { is: 'application/json', ends: 'json geojson jsonld webmanifest' },
    async () => (await import('./text/json.ts')).parseJson,
  ),
  format(
    'JSON by lines',
    { is: 'application/x-ndjson', ends: 'ndjson jsonl' },
    async () => (await import('./text/json.ts')).parseJsonLines,
  ),
  format(
    'XML',
    { is: 'application/xml text/xml image/svg+xml', ends: 'xml rss atom xsd xsl xslt svg opml' },
    async () => (await import('./xml/xml-document.ts')).parseXml,
  ),
  format(
    'source code',
    { is: 'text/x-source', ends: '' },
    async () => (await import('./text/source-code.ts')).parseSourceCode,
  ),
  format(
    'a PDF',
    { is: 'application/pdf', ends: 'pdf' },
    async () => (await import('./pdf/pdf.ts')).parsePdf,
  ),
  format(
    'a Word document',
    { is: `${office}.wordprocessingml.document`, ends: 'docx docm dotx dotm' },
    async () => (await import('./office/docx.ts')).parseDocx,
  ),
  format(
    'a PowerPoint presentation',
    { is: `${office}.presentationml.presentation`, ends: 'pptx pptm ppsx potx' },
    async () => (await import('./office/pptx.ts')).parsePptx,
  ),
  format(
    'an Excel workbook',
    { is: `${office}.spreadsheetml.sheet`, ends: 'xlsx xlsm xltx xltm' },
    async () => (await import('./office/spreadsheet.ts')).parseXlsx,
  ),
  format(
    'a binary Excel workbook',
    { is: 'application/vnd.ms-excel.sheet.binary.macroenabled.12', ends: 'xlsb' },
    async () => (await import('./office/spreadsheet.ts')).parseXlsb,
  ),
  format('an OpenDocument text', { is: `${oasis}.text`, ends: 'odt' }, loadOpenDocument),
  format(
    'an OpenDocument presentation',
    { is: `${oasis}.presentation`, ends: 'odp' },
    loadOpenDocument,
  ),
  format(
    'an OpenDocument spreadsheet',
    { is: `${oasis}.spreadsheet`, ends: 'ods' },
    async () => (await import('./office/spreadsheet.ts')).parseOds,
  ),
  format(
    'an EPUB',
    { is: 'application/epub+zip', ends: 'epub' },
    async () => (await import('./xml/epub.ts')).parseEpub,
  ),
  format(
    'a message',
    { is: 'message/rfc822', ends: 'eml' },
    async () => (await import('./mail/mail.ts')).parseMail,
  ),
  format(
    'an RTF document',
    { is: 'application/rtf text/rtf', ends: 'rtf' },
    async () => (await import('./rtf/rtf.ts')).parseRtf,
  ),
  format('a PNG picture', { is: 'image/png', ends: 'png' }, loadPicture),
  format('a JPEG picture', { is: 'image/jpeg', ends: 'jpg jpeg' }, loadPicture),
  format('a TIFF picture', { is: 'image/tiff', ends: 'tif tiff' }, loadPicture),
  format('a WebP picture', { is: 'image/webp', ends: 'webp' }, loadPicture),
  format(
    'an old Office file',
    { is: 'application/x-ole-storage', ends: 'doc xls ppt msg' },
    async () => (await import('./office/old-office.ts')).parseOldOffice,
  ),
];

const byMediaType: ReadonlyMap<string, Format> = new Map(
  formats.flatMap((one) => one.mediaTypes.map((type): [string, Format] => [type, one])),
);

const byExtension: ReadonlyMap<string, string> = new Map([
  ...formats.flatMap(({ extensions, mediaTypes: [type = ''] }) =>
    extensions.map((extension): [string, string] => [extension, type]),
  ),
  ['srt', 'application/x-subrip'],
  ['tsv', 'text/tab-separated-values'],
  ['tab', 'text/tab-separated-values'],
]);

/** Every known file extension, except source code. */
export const knownExtensions: readonly string[] = [...byExtension.keys()];

export function formatOf(mediaType: string): Format | undefined {
  return byMediaType.get(mediaType);
}

/** The type by file name, which the bytes may contradict. */
export function typeByName(source: string): string | undefined {
  const known = byExtension.get(extensionOf(source));
  return known ?? (languageOfCode(source) === undefined ? undefined : 'text/x-source');
}
