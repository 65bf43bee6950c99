/** Vendors of embedding models that are known by name. A corpus stores them with the model. */
export const embedderVendors = [
  'ollama',
  'vllm',
  'voyage',
  'cohere',
  'gemini',
  'mistral',
  'azure',
] as const;

export type EmbedderVendor = (typeof embedderVendors)[number];

const form = new RegExp(`^(${embedderVendors.join('|')}):(\\S+)$`);

/** The parts of `VENDOR:MODEL`; undefined if it is none of them. */
export function vendorModel(
  text: string,
): { readonly vendor: EmbedderVendor; readonly model: string } | undefined {
  const [, vendor, model = ''] = form.exec(text) ?? [];
  return vendor === undefined ? undefined : { vendor: vendor as EmbedderVendor, model };
}
