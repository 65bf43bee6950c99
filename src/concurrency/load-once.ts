/**
 * Loads a module on first use. `import()` resolves its module at every call, which costs as much as
 * some steps do on a short document. A failure is not cached.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
