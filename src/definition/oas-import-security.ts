import type { Bag } from '#base/json-tree.ts';
import { at, bagOf, isBag, listOf, put } from '#base/json-tree.ts';
import type { SchemeKind } from './facets/schemes.ts';
import type { ImportAsked } from './oas-import.ts';
import { kindOf, schemesPath } from './security-schemes.ts';
import type { Fault } from './validation-error.ts';

const authenticationPath = ['server', 'authentication'];

/** Of several ways in, whose session counts: the first of these that is there. */
const identityOf: readonly (readonly [SchemeKind, string])[] = [
  ['token', 'auth_token'],
  ['jwt', 'jwt_claim'],
  ['oauth', 'oauth_key'],
];

/** Turns the ways in that a document asks of its callers into ways into the gateway. */
export function configureAuthentication(extension: Bag, document: Bag, asked: ImportAsked): Fault[] {
  const { authentication: on, securityProcessingMode: mode } = asked;
  if (mode !== undefined) put(extension, [...authenticationPath, 'securityProcessingMode'], mode);
  if (on === undefined) return [];
  const requirements = listOf(document.security).filter(isBag);
  if (requirements.length === 0)
    return [{ path: 'authentication', message: 'the document has no security to take it from' }];
  put(extension, [...authenticationPath, 'enabled'], on);
  const inForce = requirementsInForce(extension, requirements);
  const kinds = new Set<SchemeKind>();
  for (const name of new Set(requirements.flatMap(requirement => Object.keys(requirement)))) {
    const kind = configureScheme(extension, document, name, on && inForce.has(name));
    if (kind && inForce.has(name)) kinds.add(kind);
  }
  const base = identityOf.find(([kind]) => kinds.has(kind))?.[1];
  if (on && kinds.size > 1 && base) put(extension, [...authenticationPath, 'baseIdentityProvider'], base);
  return [];
}

/** Alternatives are known in compliant mode only; otherwise the first requirement is the one that counts. */
function requirementsInForce(extension: Bag, requirements: readonly Bag[]): ReadonlySet<string> {
  const compliant = at(extension, [...authenticationPath, 'securityProcessingMode']) === 'compliant';
  return new Set((compliant ? requirements : requirements.slice(0, 1)).flatMap(it => Object.keys(it)));
}

/** Where a key is looked for is told by its component; the other schemes have it in the usual header. */
function configureScheme(extension: Bag, document: Bag, name: string, on: boolean): SchemeKind | undefined {
  const path = [...schemesPath, name];
  const entry = bagOf(at(extension, path));
  const kind = kindOf(bagOf(at(document, ['components', 'securitySchemes', name])), entry);
  if (!kind) return undefined;
  const header = kind === 'token' ? {} : { header: { enabled: true, name: 'Authorization' } };
  put(extension, path, { ...header, ...entry, enabled: on });
  return kind;
}
