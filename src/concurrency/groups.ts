/** Runs the work for each value, a bounded number of them at a time. The first error ends it. */
export async function inGroups<T>(
  values: readonly T[],
  size: number,
  work: (value: T) => Promise<void>,
): Promise<void> {
  const rest = values.values();
  const worker = async (): Promise<void> => {
    for (const value of rest) await work(value);
  };
  await Promise.all(Array.from({ length: Math.min(size, values.length) }, worker));
}
