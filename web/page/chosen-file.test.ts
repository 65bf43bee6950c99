import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDropped } from './chosen-file.ts';

/** An entry as the File and Directory Entries API describes it: folders are read in parts. */
function entryOf(fullPath: string, content: readonly unknown[] | Error | 'file'): unknown {
  const isDirectory = Array.isArray(content);
  if (!isDirectory) {
    const file = (resolve: (file: File) => void, reject: (error: Error) => void) =>
      content instanceof Error ? reject(content) : resolve({ name: fullPath } as File);
    return { isDirectory, fullPath, file };
  }
  const left = [...content];
  const readEntries = (resolve: (entries: unknown[]) => void) => resolve(left.splice(0, 100));
  return { isDirectory, fullPath, createReader: () => ({ readEntries }) };
}

test('all files of a dropped folder are read, with their paths', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `/docs/deep/${index}.md`);
  const deep = entryOf(
    '/docs/deep',
    names.map((name) => entryOf(name, 'file')),
  );
  const broken = entryOf('/docs/broken.md', new Error('not allowed'));
  const docs = entryOf('/docs', [entryOf('/docs/_index.md', 'file'), deep, broken]);
  const items = [docs, entryOf('/note.txt', 'file')].map((entry) => ({
    kind: 'file',
    webkitGetAsEntry: () => entry,
  }));
  const text = { kind: 'string', webkitGetAsEntry: () => null };
  const dropped = await readDropped([...items, text] as unknown as DataTransferItem[]);
  assert.deepEqual(
    dropped.files.map(({ path }) => path),
    ['docs/_index.md', ...names.map((name) => name.slice(1)), 'note.txt'],
  );
  assert.deepEqual(dropped.unreadable, ['docs/broken.md']);
});
