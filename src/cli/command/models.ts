/** `pawl models`: the embedding models on this machine. */
import { Failure } from '../../kernel/failure/failure.ts';
import {
  addFromFolder,
  addFromHub,
  hubFiles,
  type InstalledModel,
  knownModels,
  listModels,
  type Verified,
  verifyModel,
} from '../../provider/embedding/model-folder.ts';
import { type Probed, probeModel } from '../../provider/embedding/model-probe.ts';
import { onnxEmbedder } from '../../provider/embedding/onnx-embedder.ts';
import { answer, type Call, type Command, exits, textOf, usageError } from '../command.ts';
import { modelsFolderOf } from '../engine-options.ts';
import { printTable } from '../view/table.ts';

const actions: Readonly<Record<string, (call: Call) => Promise<number>>> = { list, add, verify };

export const models: Command = {
  name: 'models',
  summary: 'list, add and verify embedding models',
  isLocal: true,
  usage: [
    'models',
    'models add NAME [FOLDER | URL] [--checksum HEX]',
    'models verify [NAME] [--files]',
  ],
  options: {
    checksum: { type: 'string', value: 'HEX', meaning: 'add: the expected SHA-256 of model.onnx' },
    files: { type: 'boolean', meaning: 'verify: compare the files, without running the model' },
  },
  examples: ['pawl models add minilm', 'pawl models add minilm ./all-MiniLM-L6-v2'],
  run: async (call) => {
    const [name = 'list'] = call.positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action) return action(call);
    throw usageError(`there is no \`pawl models ${name}\`; use list, add or verify`);
  },
};

async function list(call: Call): Promise<number> {
  const folder = modelsFolderOf(call.config);
  const installed = await listModels(folder);
  const missing = Object.keys(knownModels).filter((name) =>
    installed.every((model) => model.name !== name),
  );
  return answer(call, { folder, models: installed }, () => {
    const rows = [
      ['local', 'built in', 'PAWL_EMBEDDER=local'],
      ...installed.map((model) => [model.name, size(model), settingOf(model)]),
      ...missing.map((name) => [name, 'not added', `pawl models add ${name}`]),
    ];
    printTable(call.terminal, ['NAME', 'SIZE', 'USE'], rows);
  });
}

async function add(call: Call): Promise<number> {
  const [, name, source] = call.positionals;
  if (name === undefined) throw usageError('name the model: pawl models add NAME [FOLDER | URL]');
  const folder = modelsFolderOf(call.config);
  const sha256 = sha256Of(call);
  const isFolder = source !== undefined && !/^https?:/i.test(source);
  const added = isFolder
    ? await addFromFolder({ models: folder, name, source, sha256 })
    : await addFromHub({
        models: folder,
        name,
        ...hubOf(name, source, sha256),
        fetch,
        signal: call.interrupt,
      });
  const next = `\`pawl models verify ${name}\` runs it once`;
  return answer(
    call,
    added,
    `added ${name}, ${size(added)}. Use it with ${settingOf(added)}; ${next}.`,
  );
}

function sha256Of(call: Call): string | undefined {
  const text = textOf(call.flags, 'checksum');
  if (text === undefined || /^[0-9a-f]{64}$/i.test(text)) return text;
  throw usageError('--checksum takes 64 hexadecimal digits');
}

/** The checksum is known before the download: from the table of models, or from the user. */
function hubOf(name: string, source: string | undefined, sha256: string | undefined) {
  const known = Object.hasOwn(knownModels, name) ? knownModels[name] : undefined;
  const address = source ?? known?.address;
  if (address === undefined) {
    const names = Object.keys(knownModels).join(', ');
    throw usageError(`name a folder or a URL for ${name}; only ${names} needs neither`);
  }
  if (sha256 !== undefined) return { address, files: hubFiles(sha256) };
  if (known) return { address, files: known.files };
  const add = `pawl models add ${name} ${address} --checksum HEX`;
  throw usageError(`give the checksum of the model file, as the hub shows it: ${add}`);
}

interface Report extends Verified {
  /** Undefined if the model was not run. */
  readonly probe: Probed | undefined;
}

async function verify(call: Call): Promise<number> {
  const folder = modelsFolderOf(call.config);
  const [, name] = call.positionals;
  const names = name === undefined ? (await listModels(folder)).map((model) => model.name) : [name];
  const reports: Report[] = [];
  for (const each of names) reports.push(await verified(call, folder, each));
  answer(call, { folder, models: reports }, () => {
    if (reports.length === 0) return call.terminal.print(`no model in ${folder}`);
    printTable(call.terminal, ['NAME', 'SIZE', 'RESULT'], reports.map(rowOf));
  });
  return reports.every(({ problems }) => problems.length === 0) ? exits.well : exits.error;
}

async function verified(call: Call, folder: string, name: string): Promise<Report> {
  const files = await verifyModel(folder, name);
  if (files.problems.length > 0 || call.flags.files === true) return { ...files, probe: undefined };
  try {
    const embedder = onnxEmbedder({ folder: files.folder });
    return { ...files, probe: await probeModel(embedder, call.interrupt) };
  } catch (error) {
    // A report for the user. An interrupt is not one.
    call.interrupt.throwIfAborted();
    const message = error instanceof Failure ? error.message : `it cannot be run: ${String(error)}`;
    return { ...files, problems: [message], probe: undefined };
  }
}

function rowOf(report: Report): string[] {
  const { name, problems, probe } = report;
  const ran = probe && `${probe.dimensions} dimensions, related ${probe.related.toFixed(2)}`;
  const well = ran ? `OK: ${ran}, unrelated ${probe.unrelated.toFixed(2)}` : 'OK: files unchanged';
  return [name, size(report), problems.length > 0 ? problems.join('; ') : well];
}

function size({ bytes }: InstalledModel): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function settingOf({ name, folder }: InstalledModel): string {
  return `PAWL_EMBEDDER=${Object.hasOwn(knownModels, name) ? name : `onnx:${folder}`}`;
}
