import { asBytes } from '#base/header-fields.ts';
import { type SecretPlace, secretPlaces, secretsOf } from '#base/secrets.ts';
import type { Exchange } from '../exchange.ts';
import { Unservable } from '../step.ts';
import type { GatewayTools } from '../tools.ts';
import { reference, referencePlaces } from './references.ts';
import { shown } from './shown.ts';

/**
 * Text in which definitions name what is known only when a call comes: `$gw_context.NAME` and `$gw_meta.NAME`, the latter
 * of the key; and `$secret_….NAME`, which is known when the definition is loaded. It is taken apart once. What a value
 * holds is never looked at for variables again: callers cannot name any.
 */
export type Part = string | Variable;

export interface Variable {
  readonly from: 'context' | 'meta';
  readonly name: string;
}

/** What variables are looked up in. */
export type Known = Pick<Exchange, 'context' | 'session'>;
type Finds = Pick<GatewayTools, 'settings'>;

const variable = /\$(gw_context|gw_meta|secret_[a-z]+)\.([A-Za-z0-9_.-]+)/g;

/** The parts of a text, secrets put in. */
export function partsOf(given: string, tools: Finds): Part[] {
  const text = asVariable(given);
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: whole, 1: from, 2: name, index } of text.matchAll(variable)) {
    parts.push(text.slice(end, index));
    parts.push(
      from!.startsWith('gw_')
        ? { from: from!.slice(3) as Variable['from'], name: name! }
        : secretOf(from!, name!, tools),
    );
    end = index + whole.length;
  }
  parts.push(text.slice(end));
  return joined(parts);
}

/** The older way to name a secret, where it is all of a text. */
const asVariable = (text: string): string => {
  const [, kind, name] = reference.exec(text) ?? [];
  return kind === undefined ? text : `$secret_${referencePlaces[kind] ?? kind}.${name}`;
};

/** Literals side by side are one; empty ones are none. */
function joined(parts: readonly Part[]): Part[] {
  const kept: Part[] = [];
  for (const part of parts) {
    const last = kept.at(-1);
    if (typeof part === 'string' && typeof last === 'string') kept[kept.length - 1] = last + part;
    else if (part !== '') kept.push(part);
  }
  return kept;
}

const isPlace = (text: string): text is SecretPlace => (secretPlaces as readonly string[]).includes(text);

function secretOf(from: string, name: string, { settings }: Finds): string {
  const place = from.slice('secret_'.length);
  if (!isPlace(place)) throw new Unservable(`the gateway keeps no secrets in ${JSON.stringify(place)}`);
  const found = secretsOf(settings).find(place, name);
  if (found === undefined) throw new Unservable(`the secret $${from}.${name} is missing`);
  return found;
}

/** What a variable stands for in this call; empty where nobody knows. */
export function variableValue({ from, name }: Variable, call: Known): string {
  const known = from === 'meta' ? call.session?.metaData : call.context;
  return known === undefined ? '' : shown(known[name]);
}

/** Whether it names something that may not be written down. */
export const hasSecrets = (text: string): boolean => /\$secret_[a-z]+\.[A-Za-z0-9_.-]/.test(asVariable(text));

const asItIs = (value: string) => value;

/**
 * Compiles a text: what comes back fills it in for a call. `escaped` is applied to values only, never to the author's own
 * text.
 */
export function variables(
  text: string,
  tools: Finds,
  escaped: (value: string) => string = asItIs,
): (call: Known) => string {
  const parts = partsOf(text, tools);
  if (parts.length === 0) return () => '';
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'string') return () => only;
  return call => {
    let filled = '';
    for (const part of parts) filled += typeof part === 'string' ? part : escaped(variableValue(part, call));
    return filled;
  };
}

/** Within a path or a query a value stands for itself and can begin nothing new. */
export const urlEscaped = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const control = /\p{Cc}/gu;

/** Within a header, likewise: a line break would begin another header. Characters beyond ASCII go out as UTF-8. */
export function headerEscaped(value: string): string {
  if (plainValue.test(value)) return value;
  return asBytes(value.replaceAll(control, ' ').trim());
}

const plainValue = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
