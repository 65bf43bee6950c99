/**
 * The first seed of a test. It differs in each run, so that runs add up, unless `TEST_SEED` sets
 * it. `npm test` prints it, and a file that fails prints how to replay it.
 */
export const seedVariable = 'TEST_SEED';

export function firstSeed(fileUrl: string): number {
  const seed = givenSeed() ?? randomSeed();
  const file = new URL(fileUrl).pathname.split('/').slice(-2).join('/');
  console.log(`seed ${seed}; to replay: ${seedVariable}=${seed} npm test -- ${file}`);
  return seed;
}

export function randomSeed(): number {
  return 1 + Math.floor(Math.random() * 1e9);
}

export function givenSeed(): number | undefined {
  const text = process.env[seedVariable];
  if (text === undefined || text === '') return undefined;
  const seed = Number(text);
  if (Number.isSafeInteger(seed) && seed > 0) return seed;
  throw new Error(`${seedVariable} takes a whole number above 0, not ${text}`);
}
