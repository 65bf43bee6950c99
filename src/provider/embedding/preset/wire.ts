/** How the embedding interfaces of vendors differ: address, key, body, answer. */

/** Many models embed a query in another way than the documents that answer it. */
export type TextUse = 'document' | 'query';

export interface WireRequest {
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number | undefined;
  readonly use: TextUse;
}

export interface Wire {
  /** Below the configured address. */
  path(model: string): string;
  headers(key: string): Readonly<Record<string, string>>;
  body(request: WireRequest): object;
  /** The answer in the form of OpenAI's; the answer itself if absent. */
  answer?: ((answer: Readonly<Record<string, unknown>>) => Record<string, unknown>) | undefined;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const embeddings = (): string => '/embeddings';

export const openaiWire: Wire = {
  path: embeddings,
  headers: bearer,
  body: ({ model, texts, dimensions }) => ({
    model,
    input: texts,
    encoding_format: 'base64',
    ...(dimensions !== undefined && { dimensions }),
  }),
};

/** The v1 interface of Azure: the model is the name of the deployment. */
export const azureWire: Wire = { ...openaiWire, headers: (key) => ({ 'api-key': key }) };

export const mistralWire: Wire = {
  path: embeddings,
  headers: bearer,
  body: ({ model, texts, dimensions }) => ({
    model,
    input: texts,
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }),
};

export const voyageWire: Wire = {
  path: embeddings,
  headers: bearer,
  body: ({ model, texts, dimensions, use }) => ({
    model,
    input: texts,
    input_type: use,
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }),
};

export const cohereWire: Wire = {
  path: () => '/embed',
  headers: bearer,
  body: ({ model, texts, dimensions, use }) => ({
    model,
    texts,
    input_type: `search_${use}`,
    embedding_types: ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }),
  answer: ({ embeddings: found, meta }) => ({
    data: vectorsOf((found as { float?: unknown } | undefined)?.float, (vector) => vector),
    usage: { prompt_tokens: (meta as Billed | undefined)?.billed_units?.input_tokens },
  }),
};

interface Billed {
  readonly billed_units?: { readonly input_tokens?: unknown };
}

/** Its answers name no tokens. */
export const geminiWire: Wire = {
  path: (model) => `/models/${encodeURIComponent(model)}:batchEmbedContents`,
  headers: (key) => ({ 'x-goog-api-key': key }),
  body: ({ model, texts, dimensions, use }) => ({
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(hasTaskType(model) && { taskType: `RETRIEVAL_${use.toUpperCase()}` }),
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    })),
  }),
  answer: ({ embeddings: found }) => ({
    data: vectorsOf(found, (row) => (row as { values?: unknown } | undefined)?.values),
  }),
};

/** The second model takes a prompt before the text instead (`prompt.ts`). */
function hasTaskType(model: string): boolean {
  return !model.includes('gemini-embedding-2');
}

function vectorsOf(rows: unknown, vectorOf: (row: unknown) => unknown): unknown {
  if (!Array.isArray(rows)) return undefined;
  return rows.map((row, index) => ({ index, embedding: vectorOf(row) }));
}
