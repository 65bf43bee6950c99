/**
 * The protocol library repeats the id of a message, the name of a tool and the address of a
 * resource in its response, however long they are. So messages with long ones do not reach it.
 */
import { limits } from '../kernel/limits/limits.ts';

const invalidRequest = -32600;

/** The response to a message, or to a batch, in which one of these texts is too long. */
export function refuseLongNames(body: unknown): Response | undefined {
  const max = limits.request.mcpNameCharactersMax;
  const name = (Array.isArray(body) ? body : [body])
    .flatMap(textsAround)
    .find(([, text]) => text.length > max)?.[0];
  if (name === undefined) return undefined;
  const message = `${name.slice(0, max)} has more than ${max} characters`;
  const error = { code: invalidRequest, message };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 });
}

/** All texts of a message but those of its arguments. */
function textsAround(message: unknown): [name: string, text: string][] {
  const { params } = fieldsOf(message);
  const { _meta: meta } = fieldsOf(params);
  return [message, params, meta].flatMap((part) => Object.entries(fieldsOf(part))).filter(isText);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isText(entry: [name: string, value: unknown]): entry is [name: string, text: string] {
  return typeof entry[1] === 'string';
}
