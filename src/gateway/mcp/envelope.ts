import { isUtf8 } from 'node:buffer';
import { isObject } from '#base/json-tree.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { PrimitiveType } from '#definition/mcp-names.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { scanMembers } from './member-scan.ts';

/** JSON-RPC envelope of a message: its method, its id and the primitive that it names. */
export interface Envelope {
  /** Empty for a response of the client to a request of the server. */
  readonly method: string;
  /** As JSON text. */
  readonly id: string;
  readonly primitiveType: PrimitiveType | '';
  readonly primitiveName: string;
}

/** Refusal of a message, with the id where it could be read. */
export interface EnvelopeError {
  readonly code: RefusalCode;
  readonly id: string;
  /** The missing parameter. */
  readonly parameter?: string;
}

const maxMethodCharacters = 256;
const maxIdCharacters = 256;
const maxNameCharacters = 4096;

interface PrimitiveParameter {
  readonly type: PrimitiveType;
  readonly parameter: 'name' | 'uri';
}

/** Methods that name a primitive in their parameters. */
const primitiveMethods: Readonly<Record<string, PrimitiveParameter>> = {
  'tools/call': { type: 'tool', parameter: 'name' },
  'prompts/get': { type: 'prompt', parameter: 'name' },
  'resources/read': { type: 'resource', parameter: 'uri' },
  'resources/subscribe': { type: 'resource', parameter: 'uri' },
  'resources/unsubscribe': { type: 'resource', parameter: 'uri' },
};

/** References of `completion/complete`, which reveals values of the arguments of a primitive. */
const references: Readonly<Record<string, PrimitiveParameter>> = {
  'ref/prompt': { type: 'prompt', parameter: 'name' },
  'ref/resource': { type: 'resource', parameter: 'uri' },
};

/** Parses a message. Everything that another reader could understand in another way is refused. */
export function parseEnvelope(bytes: Buffer): Envelope | EnvelopeError {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : '';
  const scan = scanMembers(text);
  const message = scan.isUnambiguous || text === '' ? tryParseJson(text) : undefined;
  const id = readId(scan.id);
  if (!scan.isUnambiguous) return { code: 'rpc_invalid', id: 'null' };
  if (message === undefined) return { code: 'rpc_parse_failed', id: 'null' };
  if (Array.isArray(message)) return { code: 'rpc_batch', id: 'null' };
  if (!isObject(message) || message.jsonrpc !== '2.0' || id === undefined) return { code: 'rpc_invalid', id: 'null' };
  if (!Object.hasOwn(message, 'method')) return readResponse(message, id);
  const { method } = message;
  if (typeof method !== 'string' || method === '' || method.length > maxMethodCharacters || !method.isWellFormed())
    return { code: 'rpc_invalid', id };
  return readPrimitive(method, id, message.params);
}

/** Undefined for an id that JSON-RPC does not have, or that is too long to be repeated in responses. */
const readId = (raw: string): string | undefined =>
  raw === '' ? 'null' : raw.length > maxIdCharacters ? undefined : raw;

/** Response of the client: an id, and a result or an error. */
const readResponse = (message: Readonly<Record<string, unknown>>, id: string): Envelope | EnvelopeError =>
  id !== 'null' && ('result' in message || 'error' in message)
    ? { method: '', id, primitiveType: '', primitiveName: '' }
    : { code: 'rpc_invalid', id };

function readPrimitive(method: string, id: string, params: unknown): Envelope | EnvelopeError {
  const isReference = method === 'completion/complete';
  const direct = Object.hasOwn(primitiveMethods, method) ? primitiveMethods[method] : undefined;
  if (!direct && !isReference) return { method, id, primitiveType: '', primitiveName: '' };
  if (!isObject(params)) return { code: 'rpc_params_missing', id };
  if (direct) return readName(method, id, params, direct);
  const { ref } = params;
  if (!isObject(ref)) return { code: 'rpc_parameter_missing', id, parameter: 'ref' };
  const named = typeof ref.type === 'string' && Object.hasOwn(references, ref.type) ? references[ref.type] : undefined;
  return named ? readName(method, id, ref, named) : { code: 'rpc_params_invalid', id };
}

function readName(
  method: string,
  id: string,
  params: Readonly<Record<string, unknown>>,
  { type, parameter }: PrimitiveParameter,
): Envelope | EnvelopeError {
  const name = params[parameter];
  if (name === undefined || name === null || name === '') return { code: 'rpc_parameter_missing', id, parameter };
  // Readers replace lone surrogates by different characters.
  if (typeof name !== 'string' || name.length > maxNameCharacters || !name.isWellFormed())
    return { code: 'rpc_params_invalid', id };
  return { method, id, primitiveType: type, primitiveName: name };
}
