/**
 * Whether a text consists of words. In Latin letters, the small words of the most frequent
 * languages show it: a font with a broken mapping yields none of them. A text mostly in one other
 * script counts as words: such a font yields signs of many scripts, or of none.
 */
const smallWords = new Set(
  `the of and to in is for that with on as are be by this from or not it at an was which have
  der die das und den von zu mit ist im nicht ein eine des dem auf für sich als auch
  de la le les et des du en un une que est dans pour qui sur par au
  el los las del por con para se no es su il di che per non sono della da do em com uma os não
  van het een dat op te zijn met voor niet och att det som på är av för med inte til
  nie na że się jest ale od`.split(/\s+/),
);
/** About a third of a text, and a tenth of text that is mostly names and code. */
const shareMin = 0.1;
const countMin = 10;

export function readsAsWords(text: string): boolean {
  if (isInOneScript(text)) return true;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const small = words.filter((word) => smallWords.has(word)).length;
  return small >= Math.max(countMin, shareMin * words.length);
}

const scripts =
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Hebrew '
    .concat('Kannada Khmer Lao Malayalam Myanmar Sinhala Tamil Telugu Thai Tibetan')
    .split(' ')
    .map((script) => new RegExp(`\\p{Script=${script}}`, 'gu'));
/** Chinese, Japanese and Korean mix their scripts. */
const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const scriptShareMin = 0.6;

function isInOneScript(text: string): boolean {
  const signs = text.match(/[^\s\p{P}\p{N}]/gu)?.length ?? 0;
  return [...scripts, eastAsian].some(
    (script) => (text.match(script)?.length ?? 0) > Math.max(countMin, scriptShareMin * signs),
  );
}
