import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { assertCpuMs } from '../../../test/support/measure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { readLexicon } from './lexicon.ts';
import { extractEntities } from './local-extractor.ts';

const lexicon = await readLexicon();
const entitiesOf = (text: string) => extractEntities(text, lexicon).entities;
const shown = (text: string) => entitiesOf(text).map(({ kind, name }) => `${kind}: ${name}`);

test('mails, addresses, dates and people are found, each with all its mentions', () => {
  const text =
    'Ada Lovelace wrote to Charles Babbage on 1843-07-10. Ada Lovelace: ada@example.org, ' +
    'see https://example.org/notes (and "https://example.org/notes").';
  const found = entitiesOf(text).map(({ kind, name, mentions }) => [kind, name, mentions.length]);
  assert.deepEqual(found, [
    ['date', '1843-07-10', 1],
    ['email', 'ada@example.org', 1],
    ['url', 'https://example.org/notes', 2],
    ['person', 'Ada Lovelace', 2],
    ['person', 'Charles Babbage', 1],
  ]);
});

test('a capital at the start of a sentence does not make a name', () => {
  assert.deepEqual(entitiesOf('The walrus sleeps. Then it wakes. Finally everyone goes home.'), []);
});

test('a surname refers to the person named in full before', () => {
  const [person] = entitiesOf('We met Alan Turing in May. Later Turing wrote a paper.');
  assert.equal(person?.name, 'Alan Turing');
  assert.deepEqual(person?.aliases, ['Turing']);
  assert.equal(person?.mentions.length, 2);
});

test('a title within a run of capitals ends one name and begins another', () => {
  const text =
    'It was a call by NASA Administrator Jim Bridenstine that Led Zeppelin did not hear.';
  assert.deepEqual(shown(text).slice(0, 2), ['organization: NASA', 'person: Jim Bridenstine']);
  assert.match(shown(text)[2] ?? '', /Led Zeppelin$/);
});

test('contractions and common acronyms are skipped', () => {
  assert.deepEqual(entitiesOf('Don’t tell the CEO that I’m here. We’re watching TV on a PC.'), []);
});

test('letters in brackets abbreviate the name before them', () => {
  const text = 'Members of the World Health Organization (WHO) met. The report of WHO came later.';
  const [organization] = entitiesOf(text);
  assert.equal(organization?.kind, 'organization');
  assert.deepEqual(organization?.aliases, ['WHO']);
  assert.equal(organization?.mentions.length, 3);
});

test('entities in one sentence are related, more strongly if more often', () => {
  const text =
    'Ada Lovelace met Charles Babbage in London. Ada Lovelace and Charles Babbage worked on it. ' +
    'Grace Hopper was born later.';
  const { entities, relations } = extractEntities(text, lexicon);
  const pairs = relations.map(
    ({ one, other, weight }) => `${entities[one]?.name} + ${entities[other]?.name}: ${weight}`,
  );
  assert.deepEqual(pairs, [
    'Ada Lovelace + Charles Babbage: 2',
    'Ada Lovelace + London: 1',
    'Charles Babbage + London: 1',
  ]);
});

test('code, link targets and headings in capitals contain no names', () => {
  const text =
    '# GENERAL TERMS OF SERVICE\n\nSee `Ada Lovelace` and [here](/Charles/Babbage).\n\n' +
    '```\nnew Grace Hopper in Paris\n```\n';
  assert.deepEqual(entitiesOf(text), []);
});

test('text in other languages yields listed names, and no nouns', () => {
  const text =
    'Der Vertrag zwischen den Parteien wurde am Abend in Berlin unterschrieben. Die Regierung ' +
    'hatte lange gezögert, weil der Haushalt noch nicht beschlossen war. Angela Merkel sprach ' +
    'danach kurz.';
  assert.deepEqual(shown(text), ['location: Berlin', 'person: Angela Merkel']);
});

const pieces = [
  ...'Ada Lovelace of the The Dr. U.S. (WHO) # said in Paris É Ж 漢 😀 ` ]( " a@b.co . , |'.split(
    ' ',
  ),
  ...['Acme Inc.', '$5 million', '3%', '1 May 1900', '\n', '\n\n', "'s", 'http://x.y', '\u0301'],
];
const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 12 }));

test('names are found at their offsets, the same each time, in any text', () => {
  const texts = fc.array(piece, { maxLength: 60 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(texts, (text) => {
      const { entities, relations } = extractEntities(text, lexicon);
      assert.deepEqual(extractEntities(text, lexicon), { entities, relations });
      for (const { name, aliases, mentions } of entities) {
        assert.ok(name.length <= Math.max(limits.document.entityNameCharactersMax, 500));
        for (const { start, end } of mentions) {
          assert.ok(start >= 0 && start < end && end <= text.length);
          const surface = text.slice(start, end).replace(/\s+/g, ' ');
          const names = [name, ...aliases].map((known) => known.toLowerCase());
          assert.ok(names.includes(surface.toLowerCase()), `${surface} for ${names}`);
        }
      }
      for (const { one, other } of relations) assert.ok(one < other && other < entities.length);
      const keys = entities.map(({ kind, name }) => `${kind} ${name}`);
      assert.equal(new Set(keys).size, keys.length);
    }),
    { numRuns: 300 },
  );
});

test('no document has more entities than the bound', () => {
  const count = limits.document.entitiesMax + 500;
  const text = Array.from({ length: count }, (_, index) => `user${index}@example.org`).join(' ');
  assert.equal(entitiesOf(text).length, limits.document.entitiesMax);
});

describe('a megabyte of hostile text takes seconds at most', () => {
  const hostile: Readonly<Record<string, string>> = {
    'one long word': 'a'.repeat(1_000_000),
    'half mails': 'a@'.repeat(500_000),
    'a domain without end': `a@b${'.c'.repeat(500_000)}.`,
    'capitals without end': 'Aa '.repeat(333_333),
    'the same name without end': 'Ada Lovelace, '.repeat(71_000),
    'small words without end': `Bank ${'of the '.repeat(140_000)}`,
    'one long name': `A${'a'.repeat(1_000_000)}`,
    'half addresses': 'http://'.repeat(143_000),
    'half dates': '1234-'.repeat(200_000),
    'half telephone numbers': '12 '.repeat(333_333),
    'half sums': '1,234'.repeat(200_000),
    'ticks and brackets': '`]('.repeat(333_333),
    'signs alone': '+'.repeat(1_000_000),
    'letters beyond ASCII': 'Ж'.repeat(1_000_000),
  };
  for (const [what, text] of Object.entries(hostile)) {
    test(what, () => {
      assertCpuMs(8000, () => entitiesOf(text));
    });
  }
});
