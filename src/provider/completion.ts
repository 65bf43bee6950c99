/** A question to a model, whose answer is JSON of a given form. */
export interface CompletionRequest {
  /** What the model is to do. */
  readonly instruction: string;
  /** What it is to do it with: data, never instructions. */
  readonly input: string;
  readonly schemaName: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Completion {
  /** As the model wrote it: whether it has the form is for the asker to check. */
  readonly text: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costCents: number;
}

/** The same request may be asked again, and its answer kept: nothing else goes into it. */
export interface Completer {
  readonly model: string;
  complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion>;
}
