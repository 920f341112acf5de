import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { isJsonType, parseMediaType } from '#base/media-type.ts';
import { readJson } from '#languages/json-schema/json-body.ts';
import type { Check, Run } from '#languages/json-schema/run.ts';
import type { HeaderList } from '../http/headers.ts';
import { type Coercion, coercionOf, type Written } from './coercion.ts';
import type { OpenApi } from './document.ts';
import type { Facts } from './schema-info.ts';
import { decoded, delimited, fromPath, fromQuery, Miswritten, type Pairs, queryDecoded, type Style } from './styles.ts';

/** Where the parameters of one call stand. */
export interface Places {
  /** Undefined where the path has another shape than the document gives it; it was matched by a pattern then. */
  readonly path: Readonly<Record<string, string>> | undefined;
  readonly query: Pairs;
  readonly headers: HeaderList;
  readonly cookies: Pairs;
}

/** Tells the run what is wrong with one parameter; whether nothing is. */
export type ParameterCheck = (places: Places, run: Run) => boolean;

const defaultStyles: Readonly<Record<string, string>> = {
  path: 'simple',
  header: 'simple',
  query: 'form',
  cookie: 'form',
};
/** What these say is for the gateway and the transport; documents have other words for them. */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization']);

/** The parameters of an operation: its own, and those of its path that it does not declare anew. */
export function parametersOf(item: JsonObject, operation: JsonObject, document: OpenApi): JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const given of [...arrayOrEmpty(item.parameters), ...arrayOrEmpty(operation.parameters)]) {
    const it = document.follow(given);
    if (typeof it.name !== 'string' || typeof it.in !== 'string' || !Object.hasOwn(defaultStyles, it.in)) continue;
    const name = it.in === 'header' ? it.name.toLowerCase() : it.name;
    if (it.in !== 'header' || !ignoredHeaders.has(name)) found.set(`${it.in} ${name}`, it);
  }
  return [...found.values()];
}

export function parameterCheck(it: JsonObject, document: OpenApi): ParameterCheck {
  const [name, place] = [it.name as string, it.in as string];
  const required = it.required === true || place === 'path';
  const { read, check } = it.content === undefined ? styled(it, document) : asContent(it, document);
  return (places, run) => {
    if (place === 'path' && !places.path) return true;
    run.path.push(place, name);
    const holds = held(places, run);
    run.path.length -= 2;
    return holds;
  };

  function held(places: Places, run: Run): boolean {
    let found: { value: unknown } | undefined;
    try {
      found = read(places);
    } catch (error) {
      if (error instanceof Miswritten) return run.fault(error.message);
      throw error;
    }
    if (found === undefined) return required ? run.fault('is required') : true;
    return check(found.value, run, undefined);
  }
}

interface Reading {
  read(places: Places): { value: unknown } | undefined;
  check: Check;
}

function styled(it: JsonObject, document: OpenApi): Reading {
  const schema = it.schema ?? {};
  const coercion: Coercion = coercionOf(schema, document);
  const members = new Set(coercion.facts.properties.keys());
  const place = it.in as string;
  const style = typeof it.style === 'string' ? it.style : defaultStyles[place]!;
  const explode = typeof it.explode === 'boolean' ? it.explode : style === 'form';
  const how: Style = { name: it.name as string, style, explode, kind: kindOf(coercion.facts) };
  const mayBeEmpty = it.allowEmptyValue === true;
  const check = document.check(schema);
  return {
    check: (value, run, seen) => (mayBeEmpty && value === '') || check(value, run, seen),
    read(places) {
      const written = writtenAt(place, places, how, members);
      return written === undefined ? undefined : { value: coercion.value(written) };
    },
  };
}

function writtenAt(place: string, places: Places, how: Style, members: ReadonlySet<string>): Written | undefined {
  if (place === 'query') return fromQuery(places.query, how, members);
  if (place === 'cookie') return fromQuery(places.cookies, how, members);
  if (place === 'header') {
    const text = headerText(places.headers, how.name);
    return text === undefined ? undefined : delimited(text, how, ',', trimmed);
  }
  const text = places.path && Object.hasOwn(places.path, how.name) ? places.path[how.name] : undefined;
  return text === undefined ? undefined : fromPath(text, how);
}

const trimmed = (text: string) => text.trim();

/** Sent several times, they are one list. */
function headerText(headers: HeaderList, name: string): string | undefined {
  const values = headers.all(name.toLowerCase());
  return values.length === 0 ? undefined : values.join(',');
}

const kindOf = ({ types }: Facts): Style['kind'] => {
  const isPlain = ['string', 'number', 'integer', 'boolean'].some(type => types.has(type));
  if (isPlain) return 'plain';
  return types.has('array') ? 'array' : types.has('object') ? 'object' : 'plain';
};

/** A parameter that is a document of its own: JSON is read, anything else is a text. */
function asContent(it: JsonObject, document: OpenApi): Reading {
  const [[type, media] = ['', {}]] = Object.entries(objectOrEmpty(it.content));
  const check = document.check(objectOrEmpty(media).schema ?? {});
  const isJson = isJsonType(parseMediaType(type));
  const how: Style = { name: it.name as string, style: 'form', explode: true, kind: 'plain' };
  return {
    read(places) {
      const written = rawAt(it.in as string, places, how.name);
      if (written === undefined) return undefined;
      if (!isJson) return { value: written };
      const read = readJson(Buffer.from(written));
      if ('fault' in read) throw new Miswritten(`cannot be read: ${read.fault}`);
      return read;
    },
    check,
  };
}

function rawAt(place: string, { path, query, headers, cookies }: Places, name: string): string | undefined {
  if (place === 'header') return headerText(headers, name);
  const text = place === 'path' ? path?.[name] : (place === 'query' ? query : cookies).get(name)?.[0];
  if (text === undefined) return undefined;
  return place === 'path' ? decoded(text) : queryDecoded(text);
}
