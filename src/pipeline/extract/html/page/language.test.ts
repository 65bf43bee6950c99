import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from './language.ts';

const texts: Readonly<Record<string, string>> = {
  en: 'It was the first of the boats that crossed the river on this side, and it was not late.',
  de: 'Das war nicht der erste Zug, der auf dem Gleis stand, und er kam auch nicht mit dem Wind.',
  fr: 'Les enfants sont dans la cour avec le chien, et la pluie ne tombe pas sur le toit du parc.',
  es: 'El barco que cruza el río no es el más viejo, pero los niños lo miran con una gran sonrisa.',
  it: 'La barca che attraversa il fiume non è la più vecchia, ma anche gli anziani sono contenti.',
  nl: 'Het was niet de eerste boot van de dag, maar er waren ook kinderen met een hond aan boord.',
  pt: 'O barco que atravessa o rio não é o mais velho, mas as crianças são felizes com uma viagem.',
};

for (const [language, text] of Object.entries(texts)) {
  test(`recognises ${language}`, () => assert.equal(languageOf(undefined, text), language));
}

test('uses the declared language, without its region', () => {
  assert.equal(languageOf('pt-BR', texts.en ?? ''), 'pt');
});

test('does not guess from a few words, or from none', () => {
  assert.equal(languageOf(undefined, 'the and of'), undefined);
  assert.equal(languageOf('', ''), undefined);
});
