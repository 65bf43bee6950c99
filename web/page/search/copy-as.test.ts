import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writtenAs } from './copy-as.ts';
import { corporaOf, monthAfter, searchBody } from './request.ts';

const options = { address: 'http://127.0.0.1:7300', hasKey: true };
const body = searchBody({
  corpora: ['handbook'],
  q: " who's on call ",
  mode: 'keyword',
  date: '2026-12',
  where: 'team = "ops"',
});

test('a search becomes the body of a request', () => {
  assert.deepEqual(body, {
    corpus_name: 'handbook',
    query: "who's on call",
    mode: 'keyword',
    filter: { updated_from: '2026-12-01', updated_before: '2027-01-01', where: 'team = "ops"' },
  });
  const several = searchBody({ corpora: corporaOf('a,b'), q: 'x', folder: 'docs/api' });
  assert.deepEqual(several, { corpus_names: ['a', 'b'], query: 'x url:"docs/api/"' });
  assert.equal(monthAfter('2026-01'), '2026-02-01');
});

test('a search is copied as a command, whose quotes a shell understands', () => {
  const text = writtenAs('curl', body, options);
  assert.ok(text.startsWith("curl -s 'http://127.0.0.1:7300/v1/search' \\\n  -H"), text);
  assert.match(text, /-H "X-API-Key: \$PAWL_KEY"/);
  assert.match(text, /"query":"who'\\''s on call"/);
  assert.doesNotMatch(writtenAs('curl', body, { ...options, hasKey: false }), /KEY/);
});

test('a search is copied as a tool call with the same arguments', () => {
  const call = JSON.parse(writtenAs('mcp', body, options));
  assert.deepEqual(call.params, { name: 'search', arguments: body });
});

test('a search is copied as a program, with the names of the library', () => {
  const text = writtenAs('code', body, options);
  assert.match(text, /await pawl\.search\("handbook", "who's on call", \{/);
  assert.match(text, /"updatedFrom": "2026-12-01"/);
  const several = writtenAs('code', { corpus_names: ['a', 'b'], query: 'x' }, options);
  assert.match(several, /\.\.\.\(await pawl\.search\("a", "x"\)\),\n {2}\.\.\.\(await/);
});
