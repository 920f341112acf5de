import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { listOperations, toClassicPath } from '#definition/endpoints/paths.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { type JwtMembers, readClaim } from './jwt-verifier.ts';

/** Lists of scopes of which one has to be held in full; none: nothing is asked for. */
export type ScopeAlternatives = readonly (readonly string[])[];

/** What a document asks of one operation. */
export interface OperationScopes {
  readonly path: string;
  readonly method: string;
  /** Operations whose paths differ in the names of their parameters only: a call may mean any of them. */
  readonly asked: readonly ScopeAlternatives[];
  /** Whether the definition takes the check away from all of them. */
  readonly off: boolean;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The scopes that requirements list for a scheme; requirements that do not name it ask nothing of its tokens. */
export const readRequiredScopes = (requirements: unknown, scheme: string): ScopeAlternatives =>
  arrayOrEmpty(requirements)
    .filter(isObject)
    .filter(requirement => Object.hasOwn(requirement, scheme))
    .map(requirement => arrayOrEmpty(requirement[scheme]).filter(isText));

/** Every operation of the document. What is read with GET is read with HEAD too, where that has no words of its own. */
export function listOperationScopes({ document, scopeScheme }: Model, { endpoints }: VersionModel): OperationScopes[] {
  const paths = objectOrEmpty(document?.paths);
  const off = new Set(endpoints.scopeCheck.filter(({ enabled }) => !enabled).map(({ operationId }) => operationId));
  const operations = listOperations(paths);
  const listed = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  const heads = operations
    .filter(({ method, path }) => method === 'GET' && !listed.has(`HEAD ${path}`))
    .map(operation => ({ ...operation, as: 'HEAD' }));
  const all = [...operations.map(operation => ({ ...operation, as: operation.method })), ...heads];
  const groups = Map.groupBy(all, ({ as, path }) => `${as} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`);
  return [...groups.values()].map(group => ({
    path: toClassicPath(group[0]!.path),
    method: group[0]!.as,
    off: group.every(({ id }) => off.has(id)),
    asked: group
      .filter(({ id }) => !off.has(id))
      .map(({ path, method }) =>
        readRequiredScopes(objectOrEmpty(objectOrEmpty(paths[path])[method.toLowerCase()]).security, scopeScheme),
      ),
  }));
}

/** Every scope that the document knows for a scheme, by letter. */
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

/** Reads the scopes of a token; claims are taken together. */
export function createScopeReader({
  scopeClaims,
  scopeSeparator,
}: Model['oauth2']): (claims: JwtMembers) => ReadonlySet<string> {
  const names = scopeClaims.length > 0 ? scopeClaims : defaultScopeClaims;
  const separator = scopeSeparator || ' ';
  /** The same token has the same claims object as long as it is remembered. */
  const known = new WeakMap<JwtMembers, ReadonlySet<string>>();
  const toTexts = (value: unknown) => (isText(value) ? value.split(separator) : arrayOrEmpty(value).filter(isText));
  return claims => {
    const found = known.get(claims);
    if (found) return found;
    const scopes = new Set(names.flatMap(name => toTexts(readClaim(claims, name)).map(it => it.trim())));
    known.set(claims, scopes);
    return scopes;
  };
}
