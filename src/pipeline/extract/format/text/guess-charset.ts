/**
 * Guesses the charset of text from before Unicode. Each candidate decodes a sample, and is scored
 * by the share of its non-ASCII characters that its languages use frequently.
 */

interface Candidate {
  readonly charset: string;
  readonly frequent: RegExp;
  /** Characters of the charset that its language hardly uses. */
  readonly rare?: RegExp;
  /** The bonus of a two-byte charset that all bytes fit. */
  readonly whole?: number;
}

const anyOf = (...lines: readonly string[]): RegExp => new RegExp(`[${lines.join('')}]`, 'g');

const latin: readonly Candidate[] = [
  { charset: 'windows-1252', frequent: /[éèàùçâêîôûëïüäößñáíóúãõåøæÄÖÜÉÀÁÅØ’‘“”–—…€£©°§«»¿¡·•]/g },
  { charset: 'windows-1250', frequent: /[ąćęłńóśźżčďěňřšťůžáéíýúőűŁŚŻŹČŘŠŽäöü„”“–—…€§]/g },
  { charset: 'iso-8859-2', frequent: /[ąćęłńóśźżčďěňřšťůžáéíýúőűŁŚŻŹČŘŠŽäöü§]/g },
  { charset: 'windows-1254', frequent: /[ığşçöüİŞĞÇÖÜâî’“”–…]/g },
  { charset: 'macintosh', frequent: /[éèàùçâêîôûëïüäößñáíóú’“”–—…]/g },
];

const cyrillic = /[оеаинтсрвлкмдпуяыьгзбчй]/g;

const others: readonly Candidate[] = [
  { charset: 'windows-1251', frequent: cyrillic },
  { charset: 'koi8-r', frequent: cyrillic },
  { charset: 'ibm866', frequent: cyrillic },
  { charset: 'iso-8859-5', frequent: cyrillic },
  { charset: 'x-mac-cyrillic', frequent: cyrillic },
  { charset: 'windows-1253', frequent: /[αοιετσνρκπυλμςάίόέήδγθ]/g },
  { charset: 'windows-1255', frequent: /[יוהלארמתבשנדחקעםפכןצגסז]/g },
  { charset: 'windows-1256', frequent: /[اليمونترهبةسدعقفكحجشىأ،]/g },
  { charset: 'windows-874', frequent: /[านรกเอวมยลทงสดตคหปพบ่้ิีั็ไแะ์ใ]/g },
];

const wholeBonus = 0.6;
const kana = /[\u3040-\u30ff、。ー]/g;
const simplified = anyOf(
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经去法学如都同现当没动面起看定天分还进',
  '好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新',
  '己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量',
  '，。、：；',
);
const traditional = anyOf(
  '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經去法學如都同現當沒動面起看定天分還進',
  '好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新',
  '己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量',
  '，。、：；',
);

const pairs: readonly Candidate[] = [
  { charset: 'shift_jis', frequent: kana, whole: wholeBonus },
  { charset: 'euc-jp', frequent: kana, whole: wholeBonus },
  { charset: 'euc-kr', frequent: /[\uac00-\ud7a3]/g, rare: /[\u4e00-\u9fff]/g, whole: wholeBonus },
  { charset: 'gb18030', frequent: simplified, whole: wholeBonus },
  { charset: 'big5', frequent: traditional, whole: wholeBonus },
];

const sampleBytes = 32_768;
/** In Latin scripts, non-ASCII letters are isolated; in all others they come in runs. */
const runShareMin = 0.6;
const scoreMin = 0.3;

export function guessCharset(bytes: Uint8Array): string {
  const sample = sampleOf(bytes);
  const isRuns = runShare(sample) >= runShareMin;
  const candidates = isRuns ? [...pairs, ...others, ...latin] : latin;
  let best = { charset: 'windows-1252', score: scoreMin };
  for (const candidate of candidates) {
    const score = scoreOf(sample, candidate);
    if (score > best.score + 0.005) best = { charset: candidate.charset, score };
  }
  return best.charset;
}

/** Ends after a line or a space, so that no character is split. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const start = Math.max(0, bytes.findIndex((byte) => byte > 0x7f) - sampleBytes / 2);
  const sample = bytes.subarray(start, start + sampleBytes);
  if (start === 0 && sample.length === bytes.length) return sample;
  const isBreak = (byte: number) => byte === 0x0a || byte === 0x20;
  const from = start === 0 ? 0 : sample.findIndex(isBreak) + 1;
  const to = sample.findLastIndex(isBreak);
  return to > from ? sample.subarray(from, to) : sample;
}

function runShare(sample: Uint8Array): number {
  let high = 0;
  let inRun = 0;
  for (let place = 0; place < sample.length; place += 1) {
    if ((sample[place] ?? 0) < 0x80) continue;
    high += 1;
    if ((sample[place - 1] ?? 0) >= 0x80 || (sample[place + 1] ?? 0) >= 0x80) inRun += 1;
  }
  return high === 0 ? 0 : inRun / high;
}

/**
 * The share of frequent characters among non-ASCII ones, minus penalties. Punctuation is ignored:
 * quotes, dashes and spaces occur in every language.
 */
function scoreOf(sample: Uint8Array, { charset, frequent, rare, whole = 0 }: Candidate): number {
  const text = new TextDecoder(charset).decode(sample);
  const unfits = countOf(text, unfit);
  const all = countOf(text, beyondAscii);
  if (all === 0) return 0;
  // A few bytes that do not fit are a blemish; many mean another charset.
  const against = 4 * unfits + (rare ? countOf(text, rare) : 0);
  return (countOf(text, frequent) - against) / all + (unfits === 0 ? whole : 0);
}

const beyondAscii = /[^\p{ASCII}]/gu;
/** Characters that result from decoding with the wrong charset. */
const unfit = /[\ufffd\u0080-\u009f]/g;

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
