import { closestMatch } from '#base/closest-match.ts';
import { toLatin1 } from '#base/http-syntax.ts';
import { type SecretSource, secretSources } from '#base/secrets.ts';
import { describeUnknownContextName } from '#definition/context-names.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { formatValue } from './format-value.ts';
import { parseReference, referencePlaces } from './secret-references.ts';

/**
 * Variables in texts of definitions: `$gw_context.NAME` and `$gw_meta.NAME` (of the key) are resolved per request,
 * `$secret_….NAME` when the definition is loaded. A text is parsed once, and values are never expanded again: clients cannot
 * inject variables.
 */
export type VariablePart = string | Variable;

export interface Variable {
  readonly from: 'context' | 'meta';
  readonly name: string;
}

/** The values of variables. */
export type VariableScope = Pick<Exchange, 'context' | 'session'>;
/** The services that compile variables. */
export type VariableServices = Pick<PipelineServices, 'secrets' | 'isContextName'>;

const variablePattern = /\$(gw_context|gw_meta|secret_[a-z]+)\.([A-Za-z0-9_.-]+)/g;

/** Parses a text and resolves its secrets. */
export function parseVariables(text: string, services: VariableServices): VariablePart[] {
  const reference = parseReference(text);
  if (reference)
    return mergeLiterals([
      readSecret(`secret_${referencePlaces[reference.kind] ?? reference.kind}`, reference.name, services),
    ]);
  const parts: VariablePart[] = [];
  let end = 0;
  for (const { 0: whole, 1: from, 2: name, index } of text.matchAll(variablePattern)) {
    parts.push(checkLiteral(text.slice(end, index)));
    parts.push(from!.startsWith('gw_') ? parseVariable(from!, name!, services) : readSecret(from!, name!, services));
    end = index + whole.length;
  }
  parts.push(checkLiteral(text.slice(end)));
  return mergeLiterals(parts);
}

/** Merges adjacent literals and drops empty ones. */
function mergeLiterals(parts: readonly VariablePart[]): VariablePart[] {
  const merged: VariablePart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else if (part !== '') merged.push(part);
  }
  return merged;
}

const knownPrefixes = ['gw_context', 'gw_meta', ...secretSources.map(place => `secret_${place}`)];
const variableLike = /\$([A-Za-z]+_[A-Za-z_]+)\.[A-Za-z0-9_-]/g;
/** Prefixes of other gateways. */
const foreignPrefix = /^[a-z_]+_(?:context|meta|metadata|ctx)$/i;

/**
 * Rejects a literal with a misspelt variable, which would be sent as it is. Any other dollar sign, such as in a price, is
 * literal.
 */
function checkLiteral(text: string): string {
  for (const [, prefix] of text.matchAll(variableLike)) {
    const meant = closestMatch(prefix!.toLowerCase(), knownPrefixes);
    if (meant !== undefined) throw new ApiCompileError(`$${prefix}. is not a variable: did you mean $${meant}.?`);
    if (foreignPrefix.test(prefix!) || prefix!.toLowerCase().startsWith('gw_'))
      throw new ApiCompileError(`$${prefix}. is not a variable: their names begin with $gw_context. or $gw_meta.`);
  }
  return text;
}

/** A context variable that no request can have is an error; metadata differ from key to key. */
function parseVariable(from: string, name: string, { isContextName }: VariableServices): Variable {
  if (from === 'gw_context' && !isContextName(name)) {
    throw new ApiCompileError(describeUnknownContextName(name));
  }
  return { from: from.slice(3) as Variable['from'], name };
}

const isPlace = (text: string): text is SecretSource => (secretSources as readonly string[]).includes(text);

function readSecret(from: string, name: string, { secrets }: VariableServices): string {
  const place = from.slice('secret_'.length);
  if (!isPlace(place)) throw new ApiCompileError(`there is no secret source ${JSON.stringify(place)}`);
  const secret = secrets.find(place, name);
  if (secret === undefined) throw new ApiCompileError(`the secret $${from}.${name} is missing`);
  return secret;
}

/** The value of a variable in this request; empty where it is unset. */
export function resolveVariable({ from, name }: Variable, call: VariableScope): string {
  const values = from === 'meta' ? call.session?.metaData : call.context;
  return values === undefined ? '' : formatValue(values[name]);
}

/** True where the text references a secret: its value must not be logged. */
export const hasSecrets = (text: string): boolean =>
  parseReference(text) !== undefined || /\$secret_[a-z]+\.[A-Za-z0-9_.-]/.test(text);

const identity = (value: string) => value;

/**
 * Compiles a text to a function that expands it for a request. `escapeValue` applies to values, not to the literal parts.
 */
export function compileVariables(
  text: string,
  services: VariableServices,
  escapeValue: (value: string) => string = identity,
): (call: VariableScope) => string {
  const parts = parseVariables(text, services);
  if (parts.length === 0) return () => '';
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'string') return () => only;
  return call => {
    let filled = '';
    for (const part of parts) filled += typeof part === 'string' ? part : escapeValue(resolveVariable(part, call));
    return filled;
  };
}

/** Percent-encodes a value so that it cannot add a path segment or a query parameter. */
export const escapeUrlValue = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const controlCharacters = /\p{Cc}/gu;

/** Removes control characters, so that a value cannot add a header. Other non-ASCII characters are sent as UTF-8. */
export function escapeHeaderValue(value: string): string {
  if (plainValue.test(value)) return value;
  return toLatin1(value.replaceAll(controlCharacters, ' ').trim());
}

const plainValue = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
