/**
 * Whether a text is made of words, as the small ones between the others tell. Where the letters of
 * a font have lost their meaning, there are none of them. The languages are the most frequent ones
 * of those that are written in Latin letters; of another language, nothing is known.
 */
const smallWords = new Set(
  `the of and to in is for that with on as are be by this from or not it at an was which have
  der die das und den von zu mit ist im nicht ein eine des dem auf für sich als auch
  de la le les et des du en un une que est dans pour qui sur par au
  el los las del por con para se no es su il di che per non sono della da do em com uma os não
  van het een dat op te zijn met voor niet och att det som på är av för med inte til
  nie na że się jest ale od`.split(/\s+/),
);
/** About a third of a text, and a tenth of what is mostly names and code. */
const shareMin = 0.1;
const countMin = 10;

export function readsAsWords(text: string): boolean {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const small = words.filter((word) => smallWords.has(word)).length;
  return small >= Math.max(countMin, shareMin * words.length);
}
