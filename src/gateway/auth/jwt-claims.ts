import { isDeepStrictEqual } from 'node:util';
import type { Model } from '#definition/model.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { type JwtMembers, readClaim, readScopeClaims } from './jwt-verifier.ts';

/** Identity, policies and rules from JWT claims. Pure functions. */
type Jwt = Model['jwt'];

export type IdentityResult =
  | { readonly ok: true; readonly identity: string }
  | { readonly ok: false; readonly code: RefusalCode; readonly claim: string };

const rejectIdentity = (code: RefusalCode, claim = ''): IdentityResult => ({ ok: false, code, claim });

/** The identity claim. A claim of the wrong type is an error; no other claim is tried. */
export function readIdentity(claims: JwtMembers, paths: readonly string[]): IdentityResult {
  for (const claim of paths) {
    const value = readClaim(claims, claim);
    if (value === undefined) continue;
    if (value === '') return rejectIdentity('jwt_empty_identity', claim);
    return typeof value === 'string' ? { ok: true, identity: value } : rejectIdentity('jwt_no_identity');
  }
  if (claims.sub === '') return rejectIdentity('jwt_empty_subject');
  return typeof claims.sub === 'string' ? { ok: true, identity: claims.sub } : rejectIdentity('jwt_no_identity');
}

/** The first policy claim; undefined where there is none, empty where it is not a string. */
export function readPolicyClaim(claims: JwtMembers, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const value = readClaim(claims, path);
    if (value !== undefined) return typeof value === 'string' ? value : '';
  }
  return undefined;
}

export interface BasePolicies {
  readonly policyIds: readonly string[];
  readonly fromDefaults: boolean;
}

export type PolicySelection =
  | { readonly ok: true; readonly policyIds: readonly string[] }
  | ReturnType<typeof rejectSelection>;
const rejectSelection = (code: RefusalCode) => ({ ok: false, code }) as const;

/** Policies of scopes add to the policy of the token and replace the defaults. */
export function selectPolicies(
  base: BasePolicies,
  scopes: readonly string[],
  scopeToPolicy: Readonly<Record<string, string>>,
): PolicySelection {
  const asksScopes = Object.keys(scopeToPolicy).length > 0;
  const matched = scopes.flatMap(scope => (Object.hasOwn(scopeToPolicy, scope) ? (scopeToPolicy[scope] ?? []) : []));
  const basePolicyIds = base.fromDefaults && matched.length > 0 ? [] : base.policyIds;
  const policyIds = [...new Set([...basePolicyIds, ...matched])];
  if (policyIds.length > 0) return { ok: true, policyIds };
  if (!asksScopes) return rejectSelection('jwt_policy_missing');
  return rejectSelection(scopes.length > 0 ? 'jwt_scope_unmatched' : 'jwt_no_policy_or_scope');
}

export const getScopePaths = ({ scopeClaims, scopeClaimName }: Pick<Jwt, 'scopeClaims' | 'scopeClaimName'>) =>
  scopeClaims.length > 0 ? scopeClaims : [scopeClaimName || 'scope'];

export const readScopes = (claims: JwtMembers, paths: readonly string[]): string[] => [
  ...new Set(readScopeClaims(claims, paths)),
];

/** The client id, under the names that identity providers use. */
export function readClientId(claims: JwtMembers): string | undefined {
  return ['clientId', 'cid', 'client_id'].map(name => claims[name]).find(it => typeof it === 'string' && it !== '') as
    | string
    | undefined;
}

const ruleTypes = new Set(['', 'required', 'exact_match', 'contains']);

/** Compiles the claim rules of a definition; a non-blocking mismatch is only reported. */
export function compileClaimRules(
  jwt: Jwt,
): ((claims: JwtMembers, note: (text: string) => void) => boolean) | undefined {
  const { allowedIssuers, allowedAudiences, allowedSubjects, jtiRequired } = jwt;
  const custom = Object.entries(jwt.customClaims);
  const hasRules =
    allowedIssuers.length + allowedAudiences.length + allowedSubjects.length + custom.length > 0 || jtiRequired;
  if (!hasRules) return undefined;
  const unknownRule = custom.find(([, { type }]) => !ruleTypes.has(type));
  if (unknownRule) throw new ApiCompileError(`the claim validation type ${unknownRule[1].type} is unknown`);
  const isListed = (list: readonly string[], values: readonly unknown[]) =>
    list.length === 0 || values.some(value => typeof value === 'string' && list.includes(value));
  return (claims, note) =>
    isListed(allowedIssuers, [claims.iss]) &&
    isListed(allowedAudiences, Array.isArray(claims.aud) ? claims.aud : [claims.aud]) &&
    isListed(allowedSubjects, [claims.sub]) &&
    (!jtiRequired || (typeof claims.jti === 'string' && claims.jti !== '')) &&
    custom.every(([path, rule]) => {
      if (meetsRule(readClaim(claims, path), rule)) return true;
      if (rule.nonBlocking) note(path);
      return rule.nonBlocking;
    });
}

function meetsRule(value: unknown, { type, allowedValues }: Jwt['customClaims'][string]): boolean {
  if (value === undefined || value === null) return false;
  if (type === 'exact_match') return allowedValues.some(allowed => isDeepStrictEqual(allowed, value));
  if (type !== 'contains') return true;
  if (Array.isArray(value)) return value.some(it => allowedValues.some(allowed => isDeepStrictEqual(allowed, it)));
  return (
    typeof value === 'string' && allowedValues.some(it => typeof it === 'string' && it !== '' && value.includes(it))
  );
}
