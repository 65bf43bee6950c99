/** `pawl config show`: every setting, its value, and where the value comes from. */
import type { ReadSetting } from '../../../app/settings/config.ts';
import { settings } from '../../../app/settings/settings.ts';
import { redact } from '../../../kernel/text/redact.ts';
import { chooseAction } from '../../action.ts';
import { type Call, type Command, exits } from '../../command.ts';
import { printTable } from '../../view/table.ts';
import { printable } from '../../view/wording.ts';

export const config: Command = {
  name: 'config',
  summary: 'show the settings and where each value comes from',
  usage: ['config show [--all]'],
  isLocal: true,
  readsSettings: true,
  options: {
    all: { type: 'boolean', short: 'a', meaning: 'also settings that have their default' },
  },
  examples: ['pawl config show', 'pawl config show --all --json'],
  run: chooseAction('config', { show }, 'show'),
};

/** The exit code is that of wrong usage if a setting is invalid. */
async function show(call: Call): Promise<number> {
  const { terminal, isJson, flags } = call;
  const { read } = call.settings;
  const shown = read.filter(({ key }) => !settings[key].isHidden);
  const given = shown.filter(({ source }) => source !== 'default');
  const rows = (flags.all === true || isJson ? shown : given).toSorted(byName);
  if (isJson) terminal.print(JSON.stringify({ settings: rows.map(shapeOf) }));
  else if (rows.length > 0) {
    printTable(
      terminal,
      ['SETTING', 'VALUE', 'FROM'],
      rows.map((row) => cellsOf(call, row)),
    );
  } else terminal.print('every setting has its default: `pawl config show --all` lists them');
  for (const { error } of shown) {
    if (error && !isJson) terminal.tell(`pawl: ${error.message}`);
  }
  return shown.some(({ error }) => error) ? exits.usage : exits.well;
}

function byName(one: ReadSetting, other: ReadSetting): number {
  return settings[one.key].variable < settings[other.key].variable ? -1 : 1;
}

function cellsOf({ terminal }: Call, row: ReadSetting): string[] {
  const value = row.error ? terminal.paint('red', 'invalid') : printable(textOfValue(row));
  return [settings[row.key].variable, value, fromOf(row)];
}

function shapeOf(row: ReadSetting) {
  const { key, source, name, error } = row;
  const { variable, isSecret = false } = settings[key];
  return {
    key,
    variable,
    value: isSecret ? null : plainOf(row.value),
    is_secret: isSecret,
    is_set: source !== 'default',
    source: source.replace(' ', '_'),
    source_name: name === '' ? null : name,
    error: error?.message ?? null,
  };
}

function plainOf(value: unknown): unknown {
  return typeof value === 'string' ? redact(value) : (value ?? null);
}

const hidden = '(hidden)';

function textOfValue({ key, value }: ReadSetting): string {
  if (value === undefined) return '';
  if (settings[key].isSecret) return hidden;
  if (Array.isArray(value)) return value.join(', ');
  return redact(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function fromOf({ source, name }: ReadSetting): string {
  if (source === 'flag') return `flag ${name}`;
  if (source === 'environment') return 'environment';
  return source === 'default' ? source : name;
}
