import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../limits/limits.ts';
import { attachmentNameOf, attachmentSource, safeFileName } from './attachment.ts';

test('the source of an attachment gives back its name, also in a mail within a mail', () => {
  const inner = attachmentSource('https://a.example/b.eml?c#d', 'e.eml');
  assert.equal(inner, 'https://a.example/b.eml?c#d#attachment/e.eml');
  assert.equal(attachmentNameOf(attachmentSource(inner, 'f #1?.pdf')), 'f #1?.pdf');
  assert.equal(attachmentNameOf('/mails/b.eml'), undefined);
});

test('a safe name has no folders and no control characters', () => {
  const rows: readonly [given: string, safe: string][] = [
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['C:\\Users\\a.txt', 'C:_Users_a.txt'],
    ['a\u202efdp.exe', 'afdp.exe'],
    [' a\0b\r\n.txt ', 'ab.txt'],
    ['e\u0301.txt', '\u00e9.txt'],
    ['..', ''],
    ['', ''],
  ];
  for (const [given, safe] of rows) assert.equal(safeFileName(given), safe, JSON.stringify(given));
  const long = safeFileName(`${'a'.repeat(1000)}.pdf`);
  assert.equal(long.length, limits.attachment.nameCharactersMax);
  assert.ok(long.endsWith('.pdf'));
  assert.equal(safeFileName(long), long);
});
