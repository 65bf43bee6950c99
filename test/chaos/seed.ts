/** The seed of a test: printed, so that `CHAOS_SEED=N npm test -- chaos` runs the same again. */
export function printedSeed(): number {
  const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1e6));
  console.log(`seed ${seed}`);
  return seed;
}
