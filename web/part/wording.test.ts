import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractCommand } from './wording.ts';

test('the command that shows what was dropped can be pasted into a shell', () => {
  const commands = {
    'https://a.example/b?c=1&d=2': "pawl extract 'https://a.example/b?c=1&d=2' --dropped",
    "upload:it's/a file.pdf": "pawl extract 'it'\\''s/a file.pdf' --dropped",
    '/home/ada/notes.md': "pawl extract '/home/ada/notes.md' --dropped",
    'inline:note-1': 'pawl extract FILE --dropped',
  };
  for (const [source, command] of Object.entries(commands)) {
    assert.equal(extractCommand(source), command);
  }
});
