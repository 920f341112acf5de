import type { OutboundClient } from '#base/http-client/client.ts';
import { isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import { problem } from './problems.ts';

export interface SchemaSourceServices {
  outbound: OutboundClient;
  settings: Settings;
}

/** Where a schema comes from: one of them, or the upstream of the API where all are absent. */
export interface GivenSchema {
  readonly sdl?: string | undefined;
  readonly introspection?: JsonObject | undefined;
  readonly url?: string | undefined;
}

/** SDL of a given schema, valid by itself. */
export async function readGivenSchema(
  given: GivenSchema,
  definition: JsonObject,
  orgId: string,
  services: SchemaSourceServices,
): Promise<string> {
  const { sdl, introspection, url } = given;
  if ([sdl, introspection, url].filter(it => it !== undefined).length > 1) throw problem.source_ambiguous();
  if (sdl !== undefined) return checkSchema(() => compileSdl(sdl));
  const found = introspection ?? (await fetchIntrospection(findServer(url, definition), orgId, services));
  return checkSchema(() => loadGraphqlLanguage().printIntrospection(found));
}

function compileSdl(sdl: string): string {
  loadGraphqlLanguage().compileGraphqlSchema(sdl);
  return sdl;
}

function checkSchema(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof loadGraphqlLanguage().InvalidGraphqlSchema)
      throw problem.schema_invalid({ detail: { reason: error.message } });
    throw error;
  }
}

interface SchemaServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers of the definition for introspection go to the upstream of the API alone: they hold its credential. */
function findServer(url: string | undefined, definition: JsonObject): SchemaServer {
  const target = textOrEmpty(objectOrEmpty(definition.proxy).target_url);
  const authHeaders = objectOrEmpty(objectOrEmpty(objectOrEmpty(definition.graphql).proxy).auth_headers);
  const headers = Object.fromEntries(
    Object.entries(authHeaders).map(([name, value]) => [name.toLowerCase(), textOrEmpty(value)]),
  );
  if (url === undefined && !/^https?:\/\//i.test(target)) throw problem.upstream_missing();
  const isUpstream = url === undefined || (URL.canParse(target) && URL.parse(url)?.origin === new URL(target).origin);
  return { url: url ?? target, headers: isUpstream ? headers : {} };
}

/** Introspection of a server, by the guarded client and without redirects. */
async function fetchIntrospection(server: SchemaServer, orgId: string, services: SchemaSourceServices) {
  const { outbound, settings } = services;
  const { status, body } = await outbound.fetch({
    url: server.url,
    orgId,
    audience: 'operator',
    method: 'POST',
    headers: { ...server.headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: loadGraphqlLanguage().introspectionQuery }),
    timeoutMs: settings['apis.fetch_timeout_ms'],
    maxBytes: settings['management.max_body_bytes'],
  });
  const fail = (reason: string) => problem.introspection_failed({ detail: { reason } });
  if (status !== 200) throw fail(`responded with status ${status}`);
  const read = parseStrictJson(body);
  if ('fault' in read) throw fail(`sent no JSON: ${read.fault}`);
  if (isObject(read.value) && isObject(read.value.data)) return read.value;
  throw fail('returned no introspection result: it may be disabled there');
}
