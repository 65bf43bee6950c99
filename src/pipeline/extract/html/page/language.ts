/** The language of a text: as declared, else guessed by its most frequent small words. */
const smallWords: Readonly<Record<string, string>> = {
  en: 'the and of to in is that for with was on are as it by this be from have not',
  de: 'der die und das ist nicht mit den von sich ein eine auch für auf dem des zu im es',
  fr: 'le la les et des est une dans que pour qui du sur pas au avec plus par ce sont',
  es: 'el la los que del las una por con para es se no su al lo como más pero un',
  it: 'il di che la per una non del della con sono nel alla gli anche dei più si da le',
  nl: 'de het een van en dat is niet voor op met zijn aan ook er te bij om naar maar',
  pt: 'o que não uma do da em os para com mais dos das pelo ao são como mas no as',
};

const wordsRead = 400;
const wordsMin = 12;

export function languageOf(declared: string | undefined, text: string): string | undefined {
  const tag = /^[a-z]{2,3}(?=$|[-_])/i.exec(declared?.trim() ?? '')?.[0];
  return tag === undefined ? guess(text) : tag.toLowerCase();
}

function guess(text: string): string | undefined {
  const words =
    text
      .slice(0, 20_000)
      .toLowerCase()
      .match(/\p{L}+/gu)
      ?.slice(0, wordsRead) ?? [];
  if (words.length < wordsMin) return undefined;
  let best: { language: string; hits: number } | undefined;
  let second = 0;
  for (const [language, list] of Object.entries(smallWords)) {
    const small = new Set(list.split(' '));
    const hits = words.filter((word) => small.has(word)).length;
    if (best === undefined || hits > best.hits) {
      second = best?.hits ?? 0;
      best = { language, hits };
    } else {
      second = Math.max(second, hits);
    }
  }
  const isClear = best !== undefined && best.hits > words.length * 0.1 && best.hits > second * 1.2;
  return isClear ? best?.language : undefined;
}
