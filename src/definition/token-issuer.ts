import { type JsonObject, type JsonPath, setAt } from '#base/json-tree.ts';
import type { DefinitionFormat } from './facet.ts';
import { classicToModel, type Model, oasToModel } from './model.ts';
import { findSchemeAnchors } from './security-schemes.ts';
import type { ClassicDefinition, OasDefinition } from './wire-types.ts';

/** Issuer whose JSON Web Tokens an API accepts, with the policies of their scopes. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Policy id by scope. */
  readonly scopes: Readonly<Record<string, string>>;
}

export type IssuedDefinition<T> =
  | { readonly ok: true; readonly definition: T; readonly isChanged: boolean }
  | { readonly ok: false; readonly reason: string };

type Jwt = Model['jwt'];

const asymmetricMethods = new Set(['', 'rsa', 'ecdsa']);

interface JwtPaths {
  readonly keySets: JsonPath;
  readonly signingMethod: JsonPath;
  readonly scopes: JsonPath;
  /** Absent in the classic format. */
  readonly issuers?: JsonPath;
}

/** Locations of the JWT settings in the two formats. */
const toPaths = (format: DefinitionFormat, document: unknown): JwtPaths => {
  if (format === 'classic')
    return {
      keySets: ['jwt_jwks_uris'],
      signingMethod: ['jwt_signing_method'],
      scopes: ['scopes', 'jwt', 'scope_to_policy'],
    };
  const scheme = ['x-gw-api-gateway', ...(findSchemeAnchors(document as OasDefinition)['@jwt'] ?? [])];
  return {
    keySets: [...scheme, 'jwksURIs'],
    signingMethod: [...scheme, 'signingMethod'],
    scopes: [...scheme, 'scopes', 'scopeToPolicyMapping'],
    issuers: [...scheme, 'allowedIssuers'],
  };
};

/**
 * Adds the key set of an issuer and the policies of its scopes to a definition that requires JWTs. Existing key sets and
 * scopes stay; a scope that selects another policy is refused, since one of the two would lose its meaning.
 */
export function addTokenIssuer<T>(format: DefinitionFormat, definition: T, issuer: TokenIssuer): IssuedDefinition<T> {
  const { jwt, authMethods } =
    format === 'classic' ? classicToModel(definition as ClassicDefinition) : oasToModel(definition as OasDefinition);
  const reason = authMethods.includes('jwt') ? findObstacle(jwt, issuer) : 'does not use JSON Web Tokens';
  if (reason !== undefined) return { ok: false, reason };
  const next = structuredClone(definition) as JsonObject;
  const changes = listChanges(format, jwt, issuer, toPaths(format, definition));
  for (const [path, value] of changes) setAt(next, path, value);
  return { ok: true, definition: next as T, isChanged: changes.length > 0 };
}

/** Removes the scopes that select one of these policies from a definition; undefined where it has none. */
export function removePolicyScopes<T>(
  format: DefinitionFormat,
  definition: T,
  policyIds: readonly string[],
): T | undefined {
  const { jwt } =
    format === 'classic' ? classicToModel(definition as ClassicDefinition) : oasToModel(definition as OasDefinition);
  const all = Object.entries(jwt.scopeToPolicy);
  const kept = all.filter(([, policyId]) => !policyIds.includes(policyId));
  if (kept.length === all.length) return undefined;
  const next = structuredClone(definition) as JsonObject;
  const pairs = kept.map(([scope, policyId]) => ({ scope, policyId }));
  setAt(next, toPaths(format, definition).scopes, format === 'classic' ? Object.fromEntries(kept) : pairs);
  return next as T;
}

function findObstacle({ source, signingMethod, scopeToPolicy }: Jwt, { jwksUri, scopes }: TokenIssuer) {
  const isOtherSource = source.trim() !== '' && ![jwksUri, Buffer.from(jwksUri).toString('base64')].includes(source);
  if (isOtherSource) return 'has a JWT key source, which must be empty for key sets of identity providers';
  if (!asymmetricMethods.has(signingMethod.toLowerCase()))
    return `has the JWT signing method ${signingMethod}; that of a key set is rsa or ecdsa`;
  const taken = Object.entries(scopes).find(
    ([scope, policy]) => Object.hasOwn(scopeToPolicy, scope) && scopeToPolicy[scope] !== policy,
  );
  return taken && `maps the scope ${taken[0]} to another policy already`;
}

function listChanges(
  format: DefinitionFormat,
  { keySets, signingMethod, scopeToPolicy, allowedIssuers }: Jwt,
  { issuer, jwksUri, scopes }: TokenIssuer,
  paths: JwtPaths,
): (readonly [JsonPath, unknown])[] {
  const changes: (readonly [JsonPath, unknown])[] = [];
  const timeoutName = format === 'classic' ? 'cache_timeout' : 'cacheTimeout';
  const toWire = ({ url, cacheTimeout }: Jwt['keySets'][number]) => ({
    url,
    ...(cacheTimeout ? { [timeoutName]: cacheTimeout } : {}),
  });
  if (!keySets.some(({ url }) => url === jwksUri))
    changes.push([paths.keySets, [...keySets.map(toWire), { url: jwksUri }]]);
  if (signingMethod === '') changes.push([paths.signingMethod, 'rsa']);
  const isMapped = ([scope, policy]: [string, string]) =>
    Object.hasOwn(scopeToPolicy, scope) && scopeToPolicy[scope] === policy;
  if (!Object.entries(scopes).every(isMapped)) {
    const merged = { ...scopeToPolicy, ...scopes };
    const pairs = Object.entries(merged).map(([scope, policyId]) => ({ scope, policyId }));
    changes.push([paths.scopes, format === 'classic' ? merged : pairs]);
  }
  if (paths.issuers && allowedIssuers.length > 0 && !allowedIssuers.includes(issuer))
    changes.push([paths.issuers, [...allowedIssuers, issuer]]);
  return changes;
}
