import { maxUrlCharacters } from '#base/http-client/target.ts';
import { categoriesOf } from '#definition/categories.ts';
import { classicOfOas } from '#definition/convert.ts';
import { bagName } from '#definition/convert-block.ts';
import { listenPathSpelling } from '#definition/listen-path.ts';
import { type AuthMode, type Model, modelOfClassic, modelOfOas } from '#definition/model.ts';
import { hostSpelling } from '#definition/path-template.ts';
import type { Fault } from '#operations/validation-error.ts';
import type { ApiShown, StoredApi, Summary, Wrapper, Written } from './schema.ts';

/** Longer ones would not fit the indexes that find them. */
const longest = { name: 500, listen_path: 500, domain: 253, address: maxUrlCharacters } as const;

export function modelOf(written: Written): Model {
  return written.kind === 'classic' ? modelOfClassic(written.definition) : modelOfOas(written.definition);
}

export function summaryOf(written: Written, wrapper: Wrapper): Summary {
  const model = modelOf(written);
  const name = model.identity.name.toWellFormed();
  return {
    name,
    ...routeOf(model),
    categories: written.kind === 'classic' ? categoriesOf(name) : wrapper.categories,
    auth_types: authTypesOf(model),
    api_types: apiTypesOf(model),
    keeps_quota: model.skips.quotaReset,
    versions: model.versioning.versions,
  };
}

/**
 * The route an API claims, in one spelling: `/orders`, `orders/` and `/orders/` are one path, and so are two templates
 * that differ only in what they call a parameter.
 */
function routeOf({ identity, listen, customDomain }: Model): Pick<Summary, 'domain' | 'listen_path'> {
  const port = listen.port > 0 ? `:${listen.port}` : '';
  if (identity.internal) return { domain: '', listen_path: '' };
  const domain = customDomain.enabled ? hostSpelling(customDomain.name) : '';
  const raw = listen.protocol === 'tcp' || listen.protocol === 'tls';
  // Bare connections need a port of their own: without one they are not served, and claim nothing.
  if (raw && port === '') return { domain: '', listen_path: '' };
  if (listen.protocol === 'tcp') return { domain: port, listen_path: everyConnection };
  // Whom a secured connection is for is said in its handshake.
  if (listen.protocol === 'tls')
    return { domain: nameless(domain.toWellFormed()) + port, listen_path: everyConnection };
  if (listen.path === '') return { domain: '', listen_path: '' };
  return { domain: nameless(domain.toWellFormed()) + port, listen_path: pathOf(listen.path.toWellFormed()) };
}

/** Stands for the listen path of TCP and TLS services, which have none: no path of HTTP is written like it. */
export const everyConnection = '*';

const nameless = (template: string) => template.replaceAll(/\{[A-Za-z_][\w-]*(?=[:}])/g, '{');
const pathOf = (path: string) => nameless(shortest(listenPathSpelling(path).replace(/(.)\/$/, '$1')));

/** Escaped, letters beyond ASCII take thrice the room in the index. Bytes that are no letters stay escaped. */
const shortest = (path: string) =>
  path.replaceAll(/(?:%[89A-F][0-9A-F])+/g, bytes => {
    const text = Buffer.from(bytes.replaceAll('%', ''), 'hex').toString();
    return text.includes('\ufffd') ? bytes : text;
  });

/** Beyond what the definition's own rules ask: what could not be stored so that it is found again. */
export function boundFaults({ kind, definition }: Written): Fault[] {
  const classic = kind === 'classic';
  const gateway = classic ? undefined : definition['x-gw-api-gateway'];
  const domain = (gateway?.server.customDomain as { name?: string } | undefined)?.name;
  const places = classic
    ? ([
        ['name', definition.name, longest.name],
        ['proxy.listen_path', definition.proxy?.listen_path, longest.listen_path],
        ['domain', definition.domain, longest.domain],
        ['proxy.target_url', definition.proxy?.target_url, longest.address],
      ] as const)
    : ([
        ['x-gw-api-gateway.info.name', gateway?.info.name, longest.name],
        ['x-gw-api-gateway.server.listenPath.value', gateway?.server.listenPath?.value, longest.listen_path],
        ['x-gw-api-gateway.server.customDomain.name', domain, longest.domain],
        ['x-gw-api-gateway.upstream.url', gateway?.upstream?.url, longest.address],
      ] as const);
  return places.flatMap(([path, value, most]) =>
    (value ?? '').length > most ? [{ path, message: `must be at most ${most} characters` }] : [],
  );
}

const authNames: Partial<Record<AuthMode, string>> = { token: 'authToken', jwt: 'jwt', oauth: 'oauth', basic: 'ba' };

/** As lists are filtered: the well-known ways in by their name, all others by theirs and by `other`. */
function authTypesOf({ modes, clientCertificates }: Model): string[] {
  if (modes.length === 0 && !clientCertificates.enabled) return ['keyless'];
  const named = modes.flatMap(mode => authNames[mode] ?? [mode, 'other']);
  return [...new Set(clientCertificates.enabled ? [...named, 'mutualTLS', 'other'] : named)];
}

const graphTypes: Record<string, string> = {
  executionEngine: 'udg',
  subgraph: 'subgraph',
  supergraph: 'supergraph',
};

function apiTypesOf({ identity, listen, graphql }: Model): string[] {
  const raw = listen.protocol === 'tcp' || listen.protocol === 'tls';
  const type = raw ? 'tcp' : graphql.enabled ? (graphTypes[graphql.executionMode] ?? 'graphql') : 'rest';
  return identity.internal ? [type, 'internal'] : [type];
}

/** The definition with the ids that are ours to give, as it is kept and read back. */
export function identified(
  written: Written,
  { id, api_id, org_id }: Pick<StoredApi, 'id' | 'api_id' | 'org_id'>,
): Written {
  if (written.kind === 'classic')
    return { kind: 'classic', definition: { ...written.definition, id, api_id, org_id, is_oas: false } };
  const gateway = written.definition['x-gw-api-gateway'];
  const info = { ...gateway.info, id: api_id, dbId: id, orgId: org_id };
  const definition = { ...written.definition, 'x-gw-api-gateway': { ...gateway, info } };
  return { kind: written.kind, definition } as Written;
}

export const givenId = (written: Written): string =>
  (written.kind === 'classic' ? written.definition.api_id : written.definition['x-gw-api-gateway'].info.id) ?? '';

export const givenOrgId = (written: Written): string =>
  (written.kind === 'classic' ? written.definition.org_id : written.definition['x-gw-api-gateway'].info.orgId) ?? '';

type ClassicShown = ApiShown['api_definition'];

/** The definition in the classic form, in whatever form it was written. */
export function classicShown(api: StoredApi): ClassicShown {
  if (api.kind === 'classic') return api.definition as ClassicShown;
  const { [bagName.oas]: _document, ...classic } = classicOfOas(api.definition);
  const { id, api_id, org_id } = api;
  return { ...classic, id, api_id, org_id, is_oas: true };
}

export function shownApi(api: StoredApi): ApiShown {
  const { more, ...members } = api.wrapper;
  const { created_at, updated_at } = api;
  const around = { ...more, api_model: {}, ...members, created_at, updated_at } as const;
  const shown = {
    ...around,
    categories: [...api.summary.categories],
    api_definition: classicShown(api),
  } as unknown as ApiShown;
  if (api.kind === 'classic') return shown;
  return { ...shown, ...(api.kind === 'streams' ? { is_streams: true } : {}), oas: api.definition };
}

/** What a compressed list keeps of each definition. */
const compressedMembers = [
  'api_id',
  'id',
  'org_id',
  'is_oas',
  'name',
  'slug',
  'active',
  'internal',
  'domain',
  'expiration',
  'protocol',
  'listen_port',
  'use_keyless',
  'use_standard_auth',
  'use_basic_auth',
  'use_oauth2',
  'use_openid',
  'use_mutual_tls_auth',
  'enable_jwt',
  'enable_signature_checking',
  'custom_plugin_auth_enabled',
  'tags',
  'definition',
];

export function compressedApi(api: StoredApi): ApiShown {
  const { oas: _document, hook_references: _hooks, ...shown } = shownApi(api);
  const { proxy, graphql, ...rest } = shown.api_definition as Record<
    string,
    Record<string, unknown> | null | undefined
  >;
  const api_definition = {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => compressedMembers.includes(name))),
    proxy: { listen_path: proxy?.listen_path ?? '', target_url: proxy?.target_url ?? '' },
    graphql: { enabled: graphql?.enabled ?? false, execution_mode: graphql?.execution_mode ?? '' },
  } as unknown as ApiShown['api_definition'];
  return { ...shown, hook_references: [], api_definition };
}
