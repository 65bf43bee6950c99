/** Malicious PDFs, each with its expected code. */
import { describe } from 'node:test';
import { checkOutcomes as check, replaced } from '../../../../../test/support/parse-outcome.ts';
import { textPage, writePdf } from '../../../../../test/support/pdf-writer.ts';
import { limits } from '../../../../kernel/limits/limits.ts';
import { writeZip } from '../zip/zip-writer.ts';

const page = textPage('Words of the page');
const alert =
  '/OpenAction << /S /JavaScript /JS (app.alert) >> /AA << /O << /S /Launch /F (x) >> >>';
const wordless = '0 0 1 rg 0 0 9 9 re f';

describe('a PDF', () => {
  check([
    ['that is honest', 'a.pdf', () => writePdf([page]), 'Words of the page'],
    [
      'behind a password',
      'a.pdf',
      () => writePdf([page], { passwords: { user: 'a', owner: 'b' } }),
      'encrypted_document',
    ],
    [
      'that only its owner may change',
      'a.pdf',
      () => writePdf([page], { passwords: { user: '', owner: 'b' } }),
      'Words of the page',
    ],
    [
      'that Illustrator saved with the drawing in a form of its own',
      'a.pdf',
      () =>
        writePdf([page], { catalog: '/PieceInfo << /AIMetaData 9 0 R /AIPrivateData1 9 0 R >>' }),
      'Words of the page',
    ],
    [
      'that claims two billion pages',
      'a.pdf',
      () => writePdf([page], { count: 2_000_000_000 }),
      'Words of the page',
    ],
    [
      'of more pages than are read',
      'a.pdf',
      () => writePdf(Array.from({ length: limits.parse.pdfPagesMax + 1 }, () => page)),
      'parse_limit_exceeded(pages)',
    ],
    ['without pages', 'a.pdf', () => writePdf([]), 'no_usable_content'],
    ['of empty pages', 'a.pdf', () => writePdf([null, wordless]), 'no_usable_content'],
    ['with actions', 'a.pdf', () => writePdf([page], { catalog: alert }), 'Words of the page'],
    [
      'whose pages are a loop',
      'a.pdf',
      () => replaced(writePdf([page]), '/Kids [4 0 R]', '/Kids [2 0 R]'),
      'parse_error_strict',
    ],
    [
      'whose tables are a loop',
      'a.pdf',
      () => replaced(writePdf([page]), '/Root 1 0 R', '/Prev 0 /Root 1 0 R'),
      'Words of the page',
    ],
    [
      'after garbage',
      'a.pdf',
      () => Buffer.concat([Buffer.alloc(500, 'x'), writePdf([page])]),
      'Words of the page',
    ],
    [
      'after another',
      'a.pdf',
      () => Buffer.concat([writePdf([textPage('First')]), writePdf([textPage('Second')])]),
      /^(?:First|Second)$/,
    ],
    ['that is cut off', 'a.pdf', () => writePdf([page]).subarray(0, 300), 'parse_error_strict'],
    [
      'that is an archive too',
      'a.pdf',
      () => Buffer.concat([writePdf([page]), writeZip([['a.txt', 'other words']], 'stored')]),
      'Words of the page',
    ],
    [
      'that is a web page too',
      'a.html',
      () => Buffer.concat([writePdf([page]), Buffer.from('<html><p>other words')]),
      'Words of the page',
    ],
    ['by name alone', 'a.pdf', () => Buffer.from([0, 1, 2, 3]), 'parse_error_strict'],
  ]);
});
