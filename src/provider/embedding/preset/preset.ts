/** Embedders by name: `VENDOR:MODEL` or `VENDOR:MODEL@DIMENSIONS`. */
import { Failure } from '../../../kernel/failure/failure.ts';
import { type EmbedderVendor, vendorModel } from '../../../kernel/name/embedder-vendor.ts';
import { promptOf } from './prompt.ts';
import {
  azureWire,
  cohereWire,
  geminiWire,
  mistralWire,
  openaiWire,
  type TextUse,
  voyageWire,
  type Wire,
} from './wire.ts';

export interface Preset {
  readonly wire: Wire;
  /** Undefined: it must be configured. */
  readonly url: string | undefined;
  /** The vendor's own variable for its key; undefined if the server may need none. */
  readonly keyVariable: string | undefined;
  /** Whether queries are embedded in another way. */
  readonly distinguishes: boolean;
  /** The most texts and tokens of one request. */
  readonly inputsMax?: number | undefined;
  readonly tokensMax?: number | undefined;
  /** Undefined: unknown, because prices of vendors change. */
  readonly centsPerMillionTokens?: number | undefined;
  /** What is put before a text. */
  readonly promptOf?: ((model: string, use: TextUse) => string) | undefined;
}

/** A server of one's own: no key, no price, and the prompts of open models. */
const own = {
  wire: openaiWire,
  keyVariable: undefined,
  distinguishes: true,
  centsPerMillionTokens: 0,
  promptOf,
};

const presets: Readonly<Record<EmbedderVendor, Preset>> = {
  ollama: { ...own, url: 'http://127.0.0.1:11434/v1' },
  vllm: { ...own, url: 'http://127.0.0.1:8000/v1' },
  voyage: {
    wire: voyageWire,
    url: 'https://api.voyageai.com/v1',
    keyVariable: 'VOYAGE_API_KEY',
    distinguishes: true,
    inputsMax: 128,
  },
  cohere: {
    wire: cohereWire,
    url: 'https://api.cohere.com/v2',
    keyVariable: 'CO_API_KEY',
    distinguishes: true,
    inputsMax: 96,
  },
  gemini: {
    wire: geminiWire,
    url: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
    distinguishes: true,
    inputsMax: 100,
    promptOf,
  },
  mistral: {
    wire: mistralWire,
    url: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    distinguishes: false,
    inputsMax: 128,
    tokensMax: 16_000,
  },
  azure: {
    wire: azureWire,
    url: undefined,
    keyVariable: 'AZURE_OPENAI_API_KEY',
    distinguishes: false,
  },
};

export interface ChosenPreset {
  readonly name: EmbedderVendor;
  readonly preset: Preset;
  readonly model: string;
  readonly dimensions: number | undefined;
}

/** Undefined if the choice names no preset. */
export function presetOf(choice: string): ChosenPreset | undefined {
  const found = vendorModel(choice);
  if (!found) return undefined;
  const { vendor: name, model: rest } = found;
  const [, model = rest, size] = /^(.+)@(\d+)$/.exec(rest) ?? [];
  const dimensions = size === undefined ? undefined : Number(size);
  return { name, preset: presets[name], model, dimensions };
}

/** Azure shows addresses without the path of its interface. */
export function presetUrl({ name, preset }: ChosenPreset, named: string | undefined): string {
  const url = named ?? preset.url;
  if (url === undefined) {
    const form = 'https://RESOURCE.openai.azure.com';
    throw new Failure('usage_error', `${name}: needs an address: set PAWL_EMBEDDER_URL=${form}`);
  }
  return name === 'azure' && new URL(url).pathname === '/' ? new URL('/openai/v1', url).href : url;
}
