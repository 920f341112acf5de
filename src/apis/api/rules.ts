import { maxUrlCharacters } from '#base/http-client/target.ts';
import { type ApiReference, findLoopReferences } from '#definition/api-references.ts';
import { parseCategories } from '#definition/categories.ts';
import { convertToClassic } from '#definition/convert.ts';
import { carryOverKey } from '#definition/convert-block.ts';
import { normalizeListenPath } from '#definition/listen-path.ts';
import { type AuthMethod, classicToModel, type Model, oasToModel } from '#definition/model.ts';
import { normalizeHost } from '#definition/path-template.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { ApiView, DefinitionOfKind, StoredApi, Summary, Wrapper } from './schema.ts';

/** Column indexes bound these lengths. */
const maxCharacters = { name: 500, listen_path: 500, domain: 253, address: maxUrlCharacters } as const;

export function toModel(written: DefinitionOfKind): Model {
  return written.kind === 'classic' ? classicToModel(written.definition) : oasToModel(written.definition);
}

/** State of the definition in either format; a classic one is active by default. */
export const isActive = (written: DefinitionOfKind): boolean =>
  written.kind === 'classic'
    ? written.definition.active !== false
    : written.definition['x-gw-api-gateway']?.info?.state?.active === true;

export function summarize(written: DefinitionOfKind, wrapper: Wrapper): Summary {
  const model = toModel(written);
  const name = model.identity.name.toWellFormed();
  return {
    name,
    ...toRoute(model),
    categories: written.kind === 'classic' ? parseCategories(name) : wrapper.categories,
    auth_types: listAuthTypes(model),
    api_types: listApiTypes(model),
    keeps_quota: model.skips.quotaReset,
    versions: model.versioning.versions,
  };
}

/**
 * Claimed route in canonical form: `/orders`, `orders/` and `/orders/` are one path, and templates that differ only in
 * parameter names are equal.
 */
function toRoute({ identity, listen, customDomain }: Model): Pick<Summary, 'domain' | 'listen_path'> {
  const port = listen.port > 0 ? `:${listen.port}` : '';
  if (identity.internal) return { domain: '', listen_path: '' };
  const domain = customDomain.enabled ? normalizeHost(customDomain.name) : '';
  const raw = listen.protocol === 'tcp' || listen.protocol === 'tls';
  // TCP and TLS services need a port of their own: without one they are not served, and claim nothing.
  if (raw && port === '') return { domain: '', listen_path: '' };
  if (listen.protocol === 'tcp') return { domain: port, listen_path: anyConnectionPath };
  // TLS services share a port; SNI selects one.
  if (listen.protocol === 'tls')
    return { domain: stripParameterNames(domain.toWellFormed()) + port, listen_path: anyConnectionPath };
  if (listen.path === '') return { domain: '', listen_path: '' };
  return {
    domain: stripParameterNames(domain.toWellFormed()) + port,
    listen_path: canonicalListenPath(listen.path.toWellFormed()),
  };
}

/** Stands for the listen path of TCP and TLS services; no HTTP path looks like it. */
export const anyConnectionPath = '*';

const stripParameterNames = (template: string) => template.replaceAll(/\{[A-Za-z_][\w-]*(?=[:}])/g, '{');
const canonicalListenPath = (path: string) =>
  stripParameterNames(unescapeNonAscii(normalizeListenPath(path).replace(/(.)\/$/, '$1')));

/** Percent-encoding triples the bytes of non-ASCII characters in the index. Invalid UTF-8 stays encoded. */
const unescapeNonAscii = (path: string) =>
  path.replaceAll(/(?:%[89A-F][0-9A-F])+/g, bytes => {
    const text = Buffer.from(bytes.replaceAll('%', ''), 'hex').toString();
    return text.includes('\ufffd') ? bytes : text;
  });

/** Length limits of the index columns, beyond the rules of the definition. */
export function checkLengths({ kind, definition }: DefinitionOfKind): ValidationError[] {
  const classic = kind === 'classic';
  const gateway = classic ? undefined : definition['x-gw-api-gateway'];
  const domain = (gateway?.server.customDomain as { name?: string } | undefined)?.name;
  const places = classic
    ? ([
        ['name', definition.name, maxCharacters.name],
        ['proxy.listen_path', definition.proxy?.listen_path, maxCharacters.listen_path],
        ['domain', definition.domain, maxCharacters.domain],
        ['proxy.target_url', definition.proxy?.target_url, maxCharacters.address],
      ] as const)
    : ([
        ['x-gw-api-gateway.info.name', gateway?.info.name, maxCharacters.name],
        ['x-gw-api-gateway.server.listenPath.value', gateway?.server.listenPath?.value, maxCharacters.listen_path],
        ['x-gw-api-gateway.server.customDomain.name', domain, maxCharacters.domain],
        ['x-gw-api-gateway.upstream.url', gateway?.upstream?.url, maxCharacters.address],
      ] as const);
  return places.flatMap(([path, value, most]) =>
    (value ?? '').length > most ? [{ path, message: `must be at most ${most} characters` }] : [],
  );
}

/** References to other APIs: `gw://` addresses and versions. */
export function findReferences(written: DefinitionOfKind, { versioning }: Pick<Model, 'versioning'>): ApiReference[] {
  const path = written.kind === 'classic' ? 'definition.versions' : 'x-gw-api-gateway.info.versioning.versions';
  const versions = Object.entries(versioning.versions);
  return [
    ...findLoopReferences(written.definition),
    ...versions.map(([version, name]) => ({ path: `${path}.${version}`, name, isOpen: false, isVersion: true })),
  ];
}

const authNames: Partial<Record<AuthMethod, string>> = { token: 'authToken', jwt: 'jwt', oauth: 'oauth', basic: 'ba' };

/** Auth types as list filters name them: common ones by name, others by name and as `other`. */
export function listAuthTypes({ authMethods, clientCertificates }: Model): string[] {
  if (authMethods.length === 0 && !clientCertificates.enabled) return ['keyless'];
  const named = authMethods.flatMap(mode => authNames[mode] ?? [mode, 'other']);
  return [...new Set(clientCertificates.enabled ? [...named, 'mutualTLS', 'other'] : named)];
}

const graphTypes: Record<string, string> = {
  executionEngine: 'udg',
  subgraph: 'subgraph',
  supergraph: 'supergraph',
};

function listApiTypes({ identity, listen, graphql }: Model): string[] {
  const raw = listen.protocol === 'tcp' || listen.protocol === 'tls';
  const type = raw ? 'tcp' : graphql.enabled ? (graphTypes[graphql.executionMode] ?? 'graphql') : 'rest';
  return identity.internal ? [type, 'internal'] : [type];
}

/** Sets the ids that the server assigns. */
export function withIds(
  written: DefinitionOfKind,
  { id, api_id, org_id }: Pick<StoredApi, 'id' | 'api_id' | 'org_id'>,
): DefinitionOfKind {
  if (written.kind === 'classic')
    return { kind: 'classic', definition: { ...written.definition, id, api_id, org_id, is_oas: false } };
  const gateway = written.definition['x-gw-api-gateway'];
  const info = { ...gateway.info, id: api_id, dbId: id, orgId: org_id };
  const definition = { ...written.definition, 'x-gw-api-gateway': { ...gateway, info } };
  return { kind: written.kind, definition } as DefinitionOfKind;
}

export const readApiId = (written: DefinitionOfKind): string =>
  (written.kind === 'classic' ? written.definition.api_id : written.definition['x-gw-api-gateway'].info.id) ?? '';

export const readOrgId = (written: DefinitionOfKind): string =>
  (written.kind === 'classic' ? written.definition.org_id : written.definition['x-gw-api-gateway'].info.orgId) ?? '';

type ClassicView = ApiView['api_definition'];

/** Classic view of an API in any format. */
export function toClassicView(api: StoredApi): ClassicView {
  if (api.kind === 'classic') return api.definition as ClassicView;
  const { [carryOverKey.oas]: _document, ...classic } = convertToClassic(api.definition);
  const { id, api_id, org_id } = api;
  return { ...classic, id, api_id, org_id, is_oas: true };
}

export function toApiView(api: StoredApi): ApiView {
  const { more, ...members } = api.wrapper;
  const { created_at, updated_at } = api;
  const around = { ...more, api_model: {}, ...members, created_at, updated_at } as const;
  const view = {
    ...around,
    categories: [...api.summary.categories],
    api_definition: toClassicView(api),
  } as unknown as ApiView;
  if (api.kind === 'classic') return view;
  return { ...view, ...(api.kind === 'streams' ? { is_streams: true } : {}), oas: api.definition };
}

/** Members of a definition in a compressed list. */
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

export function toCompressedView(api: StoredApi): ApiView {
  const { oas: _document, hook_references: _hooks, ...view } = toApiView(api);
  const { proxy, graphql, ...rest } = view.api_definition as Record<string, Record<string, unknown> | null | undefined>;
  const api_definition = {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => compressedMembers.includes(name))),
    proxy: { listen_path: proxy?.listen_path ?? '', target_url: proxy?.target_url ?? '' },
    graphql: { enabled: graphql?.enabled ?? false, execution_mode: graphql?.execution_mode ?? '' },
  } as unknown as ApiView['api_definition'];
  return { ...view, hook_references: [], api_definition };
}
