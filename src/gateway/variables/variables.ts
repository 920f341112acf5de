import { closestMatch } from '#base/closest-match.ts';
import { toLatin1 } from '#base/http-syntax.ts';
import { type SecretSource, secretSources } from '#base/secrets.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { contextNames } from './context-names.ts';
import { formatValue } from './format-value.ts';
import { parseReference, referencePlaces } from './references.ts';

/**
 * Text in which definitions name what is known only when a call comes: `$gw_context.NAME` and `$gw_meta.NAME`, the latter
 * of the key; and `$secret_….NAME`, which is known when the definition is loaded. It is taken apart once. What a value
 * holds is never looked at for variables again: callers cannot name any.
 */
export type VariablePart = string | Variable;

export interface Variable {
  readonly from: 'context' | 'meta';
  readonly name: string;
}

/** What variables are looked up in. */
export type VariableScope = Pick<Exchange, 'context' | 'session'>;
/** What names are looked up in when a text is compiled. */
export type VariableTools = Pick<StepServices, 'secrets' | 'isContextName'>;

const variablePattern = /\$(gw_context|gw_meta|secret_[a-z]+)\.([A-Za-z0-9_.-]+)/g;

/** The parts of a text, secrets put in. */
export function parseVariables(text: string, services: VariableTools): VariablePart[] {
  const named = parseReference(text);
  if (named)
    return mergeLiterals([readSecret(`secret_${referencePlaces[named.kind] ?? named.kind}`, named.name, services)]);
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

/** Literals side by side are one; empty ones are none. */
function mergeLiterals(parts: readonly VariablePart[]): VariablePart[] {
  const kept: VariablePart[] = [];
  for (const part of parts) {
    const last = kept.at(-1);
    if (typeof part === 'string' && typeof last === 'string') kept[kept.length - 1] = last + part;
    else if (part !== '') kept.push(part);
  }
  return kept;
}

const knownPrefixes = ['gw_context', 'gw_meta', ...secretSources.map(place => `secret_${place}`)];
const variableLike = /\$([A-Za-z]+_[A-Za-z_]+)\.[A-Za-z0-9_-]/g;
/** As other gateways call theirs. */
const foreignPrefix = /^[a-z_]+_(?:context|meta|metadata|ctx)$/i;

/**
 * The author's own text, unless it holds what can only be a misspelt variable: that would be sent on as it is written. Any
 * other dollar sign, a price above all, is itself.
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

/** Metadata differ from key to key; context variables do not, so that a name that no request can have is an error. */
function parseVariable(from: string, name: string, { isContextName }: VariableTools): Variable {
  if (from === 'gw_context' && !isContextName(name)) {
    const meant = closestMatch(name, contextNames);
    const hint = meant === undefined ? '' : `: did you mean ${meant}?`;
    throw new ApiCompileError(`no request has the context variable ${name}${hint}`);
  }
  return { from: from.slice(3) as Variable['from'], name };
}

const isPlace = (text: string): text is SecretSource => (secretSources as readonly string[]).includes(text);

function readSecret(from: string, name: string, { secrets }: VariableTools): string {
  const place = from.slice('secret_'.length);
  if (!isPlace(place)) throw new ApiCompileError(`the gateway keeps no secrets in ${JSON.stringify(place)}`);
  const found = secrets.find(place, name);
  if (found === undefined) throw new ApiCompileError(`the secret $${from}.${name} is missing`);
  return found;
}

/** What a variable stands for in this call; empty where nobody knows. */
export function resolveVariable({ from, name }: Variable, call: VariableScope): string {
  const known = from === 'meta' ? call.session?.metaData : call.context;
  return known === undefined ? '' : formatValue(known[name]);
}

/** Whether it names something that may not be written down. */
export const hasSecrets = (text: string): boolean =>
  parseReference(text) !== undefined || /\$secret_[a-z]+\.[A-Za-z0-9_.-]/.test(text);

const identity = (value: string) => value;

/**
 * Compiles a text: what comes back fills it in for a call. `escaped` is applied to values only, never to the author's own
 * text.
 */
export function compileVariables(
  text: string,
  services: VariableTools,
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

/** Within a path or a query a value stands for itself and can begin nothing new. */
export const escapeUrlValue = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const controlCharacters = /\p{Cc}/gu;

/** Within a header, likewise: a line break would begin another header. Characters beyond ASCII go out as UTF-8. */
export function escapeHeaderValue(value: string): string {
  if (plainValue.test(value)) return value;
  return toLatin1(value.replaceAll(controlCharacters, ' ').trim());
}

const plainValue = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
