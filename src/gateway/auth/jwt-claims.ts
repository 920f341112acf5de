import { isDeepStrictEqual } from 'node:util';
import type { Model } from '#definition/model.ts';
import type { RefusalCode } from '../pipeline/refusals.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { claimAt, type Members, scopesIn } from './jwt-token.ts';

/** What the claims of a token say of its holder. Nothing here touches anything. */
type Jwt = Model['jwt'];

export type Identity =
  | { readonly ok: true; readonly identity: string }
  | { readonly ok: false; readonly code: RefusalCode; readonly claim: string };

const unnamed = (code: RefusalCode, claim = ''): Identity => ({ ok: false, code, claim });

/** Whom a token names. A claim of the wrong type names nobody; another one is not tried in its place. */
export function identityIn(claims: Members, paths: readonly string[]): Identity {
  for (const claim of paths) {
    const value = claimAt(claims, claim);
    if (value === undefined) continue;
    if (value === '') return unnamed('jwt_empty_identity', claim);
    return typeof value === 'string' ? { ok: true, identity: value } : unnamed('jwt_no_identity');
  }
  if (claims.sub === '') return unnamed('jwt_empty_subject');
  return typeof claims.sub === 'string' ? { ok: true, identity: claims.sub } : unnamed('jwt_no_identity');
}

/** The first claim that names a policy; undefined where there is none, nothing usable where it is not a text. */
export function policyIn(claims: Members, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const value = claimAt(claims, path);
    if (value !== undefined) return typeof value === 'string' ? value : '';
  }
  return undefined;
}

export interface Base {
  readonly policyIds: readonly string[];
  readonly fromDefaults: boolean;
}

export type Chosen = { readonly ok: true; readonly policyIds: readonly string[] } | ReturnType<typeof nobody>;
const nobody = (code: RefusalCode) => ({ ok: false, code }) as const;

/** Scopes add to the policy a token names, and replace the default ones. */
export function policiesOf(
  base: Base,
  scopes: readonly string[],
  scopeToPolicy: Readonly<Record<string, string>>,
): Chosen {
  const asksScopes = Object.keys(scopeToPolicy).length > 0;
  const matched = scopes.flatMap(scope => (Object.hasOwn(scopeToPolicy, scope) ? (scopeToPolicy[scope] ?? []) : []));
  const kept = base.fromDefaults && matched.length > 0 ? [] : base.policyIds;
  const policyIds = [...new Set([...kept, ...matched])];
  if (policyIds.length > 0) return { ok: true, policyIds };
  if (!asksScopes) return nobody('jwt_policy_missing');
  return nobody(scopes.length > 0 ? 'jwt_scope_unmatched' : 'jwt_nothing_named');
}

export const scopePaths = ({ scopeClaims, scopeClaimName }: Pick<Jwt, 'scopeClaims' | 'scopeClaimName'>) =>
  scopeClaims.length > 0 ? scopeClaims : [scopeClaimName || 'scope'];

export const scopesOf = (claims: Members, paths: readonly string[]): string[] => [...new Set(scopesIn(claims, paths))];

/** The client of the other side, by the names providers give it. */
export function clientIn(claims: Members): string | undefined {
  return ['clientId', 'cid', 'client_id'].map(name => claims[name]).find(it => typeof it === 'string' && it !== '') as
    | string
    | undefined;
}

const kindsOfRule = new Set(['', 'required', 'exact_match', 'contains']);

/** What a definition asks of claims, prepared; says what is wrong with those of a token. */
export function claimRules(jwt: Jwt): ((claims: Members, note: (text: string) => void) => boolean) | undefined {
  const { allowedIssuers, allowedAudiences, allowedSubjects, jtiRequired } = jwt;
  const custom = Object.entries(jwt.customClaims);
  const asked =
    allowedIssuers.length + allowedAudiences.length + allowedSubjects.length + custom.length > 0 || jtiRequired;
  if (!asked) return undefined;
  const odd = custom.find(([, { type }]) => !kindsOfRule.has(type));
  if (odd) throw new ApiCompileError(`the gateway does not know the claim rule ${odd[1].type}`);
  const listed = (list: readonly string[], values: readonly unknown[]) =>
    list.length === 0 || values.some(value => typeof value === 'string' && list.includes(value));
  return (claims, note) =>
    listed(allowedIssuers, [claims.iss]) &&
    listed(allowedAudiences, Array.isArray(claims.aud) ? claims.aud : [claims.aud]) &&
    listed(allowedSubjects, [claims.sub]) &&
    (!jtiRequired || (typeof claims.jti === 'string' && claims.jti !== '')) &&
    custom.every(([path, rule]) => {
      if (meets(claimAt(claims, path), rule)) return true;
      if (rule.nonBlocking) note(path);
      return rule.nonBlocking;
    });
}

function meets(value: unknown, { type, allowedValues }: Jwt['customClaims'][string]): boolean {
  if (value === undefined || value === null) return false;
  if (type === 'exact_match') return allowedValues.some(allowed => isDeepStrictEqual(allowed, value));
  if (type !== 'contains') return true;
  if (Array.isArray(value)) return value.some(it => allowedValues.some(allowed => isDeepStrictEqual(allowed, it)));
  return (
    typeof value === 'string' && allowedValues.some(it => typeof it === 'string' && it !== '' && value.includes(it))
  );
}
