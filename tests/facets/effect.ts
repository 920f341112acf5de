import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { SettingName } from '#base/settings.ts';
import type { DefinitionFormat } from '#definition/facet.ts';
import { listReferenceRows } from '#definition/reference-rows.ts';
import { anyName } from '#definition/wire-schema.ts';
import type { Answer, TestApp } from '../support/app.ts';
import { waitUntilApplied } from '../support/traffic.ts';
import { patience, startUpstream, type Upstream } from '../support/upstream.ts';

/**
 * Effects of definition fields, seen by a client. Each effect enables its rows through each format that has them,
 * and observes what changes on the wire.
 */
export interface Effect {
  /** The rows it proves, as `facet.field`, with spaces between; a facet once: `cors.enabled,maxAge`. */
  readonly rows: string;
  readonly promise: string;
  /** Members of a classic definition, laid over an open API. */
  readonly classic?: (at: Ground) => JsonObject | Promise<JsonObject>;
  /** Members of an OpenAPI document, laid over the same; `x` stands for the gateway's own part. */
  readonly oas?: (at: Ground) => (JsonObject & { x?: JsonObject }) | Promise<JsonObject & { x?: JsonObject }>;
  observe(at: Served): Promise<void>;
  /**
   * Why no control run is needed where `observe` sees a refusal: it would pass without the rows too, and compares with
   * `plain` itself, or looks at more than statuses.
   */
  readonly ownControl?: string;
  /** Settings of a gateway of its own. */
  readonly settings?: Partial<Record<SettingName, string>>;
}

/** What an effect may use before its API is there. */
export interface Ground {
  readonly app: TestApp;
  readonly upstream: Upstream;
  readonly format: DefinitionFormat;
  readonly id: string;
  /** What the traffic threads have logged. */
  readonly logged: readonly string[];
  /** One more server, until the effect is shown. */
  another(): Promise<Upstream>;
  /** What else has to be closed then. */
  readonly open: { close(): Promise<unknown> }[];
}

/** And after. */
export interface Served extends Ground {
  /** Where the API answers, without a final slash. */
  readonly url: string;
  readonly listenPath: string;
  call(path?: string, init?: RequestInit): Promise<Answer>;
  /** A key with a right to the API. */
  key(more?: JsonObject): Promise<string>;
  /** Changes the definition. */
  change(more: JsonObject): Promise<void>;
  /** The same API without the rows of the effect, for comparison. */
  plain(): Promise<Served>;
}

/** Each row of an effect by its whole name. */
export const rowsOf = ({ rows: text }: Pick<Effect, 'rows'>): string[] =>
  text
    .trim()
    .split(/\s+/)
    .flatMap(part => {
      const [first = '', ...others] = part.split(',');
      const facet = first.slice(0, facetLength(first));
      return [first, ...others.map(field => `${facet}.${field}`)];
    });

/** Endpoint features are named `endpoints.<name>`; a field may hold dots of its own. */
const facetLength = (name: string) => name.indexOf('.', name.startsWith('endpoints.') ? 'endpoints.'.length : 0);

const table = new Map(listReferenceRows().map(row => [`${row.facet}.${row.field}`, row]));
export const allRows = [...table.values()];

export const placeOf = (name: string, format: DefinitionFormat): string | null => {
  const row = table.get(name);
  assert.ok(row, `there is no row ${name}`);
  return row[format];
};

/** Maps are laid over each other; anything else replaces. */
export function mergeDeep(under: unknown, over: unknown): unknown {
  if (!isObject(under) || !isObject(over)) return over === undefined ? under : over;
  const result: JsonObject = { ...under };
  for (const [name, value] of Object.entries(over)) result[name] = mergeDeep(under[name], value);
  return result;
}

const openClassic = ({ id, upstream }: Ground): JsonObject => ({
  name: `Effect ${id}`,
  api_id: id,
  active: true,
  use_keyless: true,
  version_data: { not_versioned: true, versions: { Default: { name: 'Default', use_extended_paths: true } } },
  proxy: { listen_path: `/${id}`, target_url: upstream.url, strip_listen_path: true },
});

const openOas = ({ id, upstream }: Ground): JsonObject => ({
  openapi: '3.0.3',
  info: { title: `Effect ${id}`, version: '1' },
  paths: { '/thing': { get: { operationId: 'getThing', responses: { 200: { description: 'ok' } } } } },
  'x-gw-api-gateway': {
    info: { id, name: `Effect ${id}`, state: { active: true } },
    server: { listenPath: { value: `/${id}`, strip: true } },
    upstream: { url: upstream.url },
  },
});

export async function definitionOf(effect: Effect, ground: Ground): Promise<JsonObject> {
  if (ground.format === 'classic') return mergeDeep(openClassic(ground), await effect.classic!(ground)) as JsonObject;
  const { x, ...document } = await effect.oas!(ground);
  return mergeDeep(mergeDeep(openOas(ground), document), { 'x-gw-api-gateway': x ?? {} }) as JsonObject;
}

/** True if a definition has a value at a path of the table, for any list index and name. */
export function says(definition: JsonObject, format: DefinitionFormat, place: string): boolean {
  const root = format === 'classic' ? definition : definition['x-gw-api-gateway'];
  const members = place.replaceAll('[]', `.${anyName}`).split('.');
  return hasMember([root], members);
}

function hasMember(values: readonly unknown[], [member, ...rest]: readonly string[]): boolean {
  if (member === undefined) return values.some(value => value !== undefined);
  const next = values.flatMap(value => {
    if (typeof value !== 'object' || value === null) return [];
    return member === anyName ? Object.values(value) : [(value as JsonObject)[member]];
  });
  return next.length > 0 && hasMember(next, rest);
}

/** A gateway and its log. */
export interface Watched {
  readonly app: TestApp;
  readonly logged: readonly string[];
}

function groundOf({ app, logged }: Watched, upstream: Upstream, format: DefinitionFormat): Ground {
  const open: Ground['open'] = [];
  const another = async () => {
    const made = await startUpstream();
    open.push(made);
    return made;
  };
  return { app, logged, upstream, format, id: createPublicId(), another, open };
}

/**
 * Publishes the definition of an effect and runs its check. A refusal may have another cause than the rows, such as a
 * default of the gateway: where one was seen, a control run publishes the API without the rows, and its check must fail.
 */
export async function prove(
  effect: Effect,
  watched: Watched,
  upstream: Upstream,
  format: DefinitionFormat,
): Promise<void> {
  const seen = await observeEffect(effect, watched, upstream, format, 'with the rows');
  if (!seen.hasRefusal || effect.ownControl) return;
  const usual = patience.ms;
  patience.ms = Math.min(usual, controlPatienceMs);
  try {
    const control = observeEffect(effect, watched, upstream, format, 'without the rows');
    await assert.rejects(control, `the look passes without ${effect.rows} too: refusals have another cause`);
  } finally {
    patience.ms = usual;
  }
}

/** A control waits for what should not come. */
const controlPatienceMs = 2000;

type Run = 'with the rows' | 'without the rows';

async function observeEffect(effect: Effect, watched: Watched, upstream: Upstream, format: DefinitionFormat, run: Run) {
  upstream.answer = undefined;
  upstream.requests.length = 0;
  const seen = { hasRefusal: false };
  const ground = groundOf(watched, upstream, format);
  try {
    const definition = await definitionOf(effect, ground);
    const places = rowsOf(effect).flatMap(name => placeOf(name, format) ?? []);
    for (const place of places) assert.ok(says(definition, format, place), `the effect does not say ${place}`);
    const shown = run === 'with the rows' ? definition : withoutPlaces(definition, format, places);
    await effect.observe(await serveDefinition(ground, shown, seen, places));
  } finally {
    // Tests of hosts would go on.
    await watched.app.ask('DELETE', `${surfaces[format]}/${ground.id}`);
    for (const it of ground.open) await it.close();
  }
  return seen;
}

/** The definition without what stands at these places; a list goes as a whole, so that no entry is left half. */
function withoutPlaces(definition: JsonObject, format: DefinitionFormat, places: readonly string[]): JsonObject {
  const result = structuredClone(definition);
  const root = format === 'classic' ? result : (result['x-gw-api-gateway'] as JsonObject);
  for (const place of places) remove([root], place.split('[]', 1)[0]!.split('.'));
  return result;
}

function remove(values: readonly unknown[], [member = '', ...rest]: readonly string[]): void {
  for (const value of values.filter(isObject)) {
    const names = member === anyName ? Object.keys(value) : [member];
    if (rest.length > 0)
      remove(
        names.map(name => value[name]),
        rest,
      );
    else for (const name of names) delete value[name];
  }
}

const surfaces = { classic: '/gw/apis', oas: '/gw/apis/oas' } as const;

async function serveDefinition(
  ground: Ground,
  definition: JsonObject,
  seen: { hasRefusal: boolean },
  places: readonly string[],
): Promise<Served> {
  const { app, format, id } = ground;
  const write = async (method: string, path: string, body: JsonObject) => {
    const { status, text } = await app.ask(method, path, { body });
    assert.equal(status, 200, text);
    await waitUntilApplied(app);
  };
  await write('POST', surfaces[format], definition);
  const listenPath = listenPathOf(definition, format);
  const url = app.url.gateway + listenPath.replace(/\/$/, '');
  let current = definition;
  return {
    ...ground,
    url,
    listenPath,
    async call(path = '/thing', init = {}) {
      const reply = await fetch(url + path, { redirect: 'manual', ...init });
      const text = await reply.text();
      seen.hasRefusal ||= reply.status >= 400;
      return { status: reply.status, headers: reply.headers, text, body: parseJson(text) };
    },
    async key(more = {}) {
      const right = { api_id: id, api_name: id, versions: ['Default'] };
      const { status, text, body } = await app.ask('POST', '/gw/keys', {
        body: { access_rights: { [id]: right }, ...more },
      });
      assert.equal(status, 200, text);
      return body.key as string;
    },
    async change(more) {
      current = mergeDeep(current, format === 'classic' ? more : { 'x-gw-api-gateway': more }) as JsonObject;
      await write('PUT', `${surfaces[format]}/${id}`, current);
    },
    async plain() {
      const other: Ground = { ...ground, id: createPublicId() };
      ground.open.push({ close: () => app.ask('DELETE', `${surfaces[format]}/${other.id}`) });
      const text = JSON.stringify(withoutPlaces(definition, format, places)).replaceAll(id, other.id);
      return serveDefinition(other, JSON.parse(text), { hasRefusal: false }, []);
    },
  };
}

function listenPathOf(definition: JsonObject, format: DefinitionFormat): string {
  const place = placeOf('listen.path', format)!.split('.');
  const root = format === 'classic' ? definition : definition['x-gw-api-gateway'];
  return place.reduce((here: unknown, member) => (here as JsonObject)[member], root) as string;
}

function parseJson(text: string): Answer['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
