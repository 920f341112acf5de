import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { listOperations, type OasOperation, toClassicPath } from '#definition/endpoints/paths.ts';
import { methodPathPrefix, parseMethodKey } from '#definition/mcp-names.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { isVirtualPath } from '../pipeline/virtual-match.ts';
import { type JwtMembers, readClaim } from './jwt-verifier.ts';

/** Alternative scope lists: the token needs all scopes of one of them. Empty: none required. */
export type ScopeAlternatives = readonly (readonly string[])[];

/** Required scopes of an operation. */
export interface OperationScopes {
  readonly path: string;
  readonly method: string;
  /** One for each operation with this path shape: the request may mean any of them. */
  readonly required: readonly ScopeAlternatives[];
  /** The definition disables the check for all of them. */
  readonly isDisabled: boolean;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The scopes of a scheme in security requirements; those without the scheme require none. */
export const readRequiredScopes = (requirements: unknown, scheme: string): ScopeAlternatives =>
  arrayOrEmpty(requirements)
    .filter(isObject)
    .filter(requirement => Object.hasOwn(requirement, scheme))
    .map(requirement => arrayOrEmpty(requirement[scheme]).filter(isText));

/** All operations of the document. HEAD requires the scopes of GET where the document has no HEAD operation. */
export function listOperationScopes(
  { document, scopeScheme, mcp }: Pick<Model, 'document' | 'scopeScheme' | 'mcp'>,
  { endpoints }: { readonly endpoints: Pick<VersionModel['endpoints'], 'scopeCheck'> },
): OperationScopes[] {
  const paths = objectOrEmpty(document?.paths);
  const off = new Set(endpoints.scopeCheck.filter(({ enabled }) => !enabled).map(({ operationId }) => operationId));
  const operations = listOperations(paths);
  const listed = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  const heads = operations
    .filter(({ method, path }) => method === 'GET' && !listed.has(`HEAD ${path}`))
    .map(operation => ({ ...operation, as: 'HEAD' }));
  const all = [...operations.map(operation => ({ ...operation, as: operation.method })), ...heads];
  const groups = Map.groupBy(all, ({ as, path }) => `${as} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`);
  const switched = endpoints.scopeCheck.map(({ path }) => path).filter(isVirtualPath);
  const virtual = [...new Set([...Object.keys(mcp?.security ?? {}), ...switched])].map(path => ({
    path,
    method: 'POST',
    isDisabled: endpoints.scopeCheck.some(it => it.path === path && !it.enabled),
    required: [readRequiredScopes(mcp?.security[path], scopeScheme)],
  }));
  const ofDocument = [...groups.values()].map(group => ({
    path: (mcp && findMethodPath(group[0]!)) ?? toClassicPath(group[0]!.path),
    method: group[0]!.as,
    isDisabled: group.every(({ id }) => off.has(id)),
    required: group
      .filter(({ id }) => !off.has(id))
      .map(({ path, method }) =>
        readRequiredScopes(objectOrEmpty(objectOrEmpty(paths[path])[method.toLowerCase()]).security, scopeScheme),
      ),
  }));
  return [...ofDocument, ...virtual];
}

/** Virtual path of the JSON-RPC method that an operation such as POST /tools/call documents. */
function findMethodPath({ id, path }: OasOperation): string | undefined {
  const method = parseMethodKey(id);
  return path === `/${method}` ? methodPathPrefix + method : undefined;
}

/** All scopes of a scheme in the document, sorted. */
export function listDocumentScopes(document: Readonly<JsonObject>, scheme: string): string[] {
  const component = objectOrEmpty(objectOrEmpty(objectOrEmpty(document.components).securitySchemes)[scheme]);
  const flows = Object.values(objectOrEmpty(component.flows)).flatMap(flow =>
    Object.keys(objectOrEmpty(objectOrEmpty(flow).scopes)),
  );
  const operations = listOperations(document.paths).flatMap(({ path, method }) =>
    readRequiredScopes(
      objectOrEmpty(objectOrEmpty(objectOrEmpty(document.paths)[path])[method.toLowerCase()]).security,
      scheme,
    ).flat(),
  );
  return [...new Set([...flows, ...readRequiredScopes(document.security, scheme).flat(), ...operations])].sort();
}

const defaultScopeClaims = ['scope', 'scp'];

/** Reads the scopes of all scope claims together. */
export function createScopeReader({
  scopeClaims,
  scopeSeparator,
}: Model['oauth2']): (claims: JwtMembers) => ReadonlySet<string> {
  const names = scopeClaims.length > 0 ? scopeClaims : defaultScopeClaims;
  const separator = scopeSeparator || ' ';
  /** By claims object: a cached token keeps its own. */
  const cache = new WeakMap<JwtMembers, ReadonlySet<string>>();
  const toTexts = (value: unknown) => (isText(value) ? value.split(separator) : arrayOrEmpty(value).filter(isText));
  return claims => {
    const cached = cache.get(claims);
    if (cached) return cached;
    const scopes = new Set(names.flatMap(name => toTexts(readClaim(claims, name)).map(it => it.trim())));
    cache.set(claims, scopes);
    return scopes;
  };
}
