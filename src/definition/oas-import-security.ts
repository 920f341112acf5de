import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { SchemeKind } from './facets/schemes.ts';
import type { ImportOptions } from './import-options.ts';
import { schemeKindOf, schemesPath } from './security-schemes.ts';

const authenticationPath = ['server', 'authentication'];

/** Base identity where several methods are enabled: the first of these that is configured. */
const identityOf: readonly (readonly [SchemeKind, string])[] = [
  ['token', 'auth_token'],
  ['jwt', 'jwt_claim'],
  ['oauth', 'oauth_key'],
];

/** Configures the security requirements of a document as auth methods of the gateway. */
export function configureAuthentication(
  extension: JsonObject,
  document: JsonObject,
  options: ImportOptions,
): ValidationError[] {
  const { authentication: on, securityProcessingMode: mode } = options;
  if (mode !== undefined) setAt(extension, [...authenticationPath, 'securityProcessingMode'], mode);
  if (on === undefined) return [];
  const requirements = arrayOrEmpty(document.security).filter(isObject);
  if (requirements.length === 0)
    return [{ path: 'authentication', message: 'the document has no security to take it from' }];
  setAt(extension, [...authenticationPath, 'enabled'], on);
  const inForce = requirementsInForce(extension, requirements);
  const kinds = new Set<SchemeKind>();
  for (const name of new Set(requirements.flatMap(requirement => Object.keys(requirement)))) {
    const kind = configureScheme(extension, document, name, on && inForce.has(name));
    if (kind && inForce.has(name)) kinds.add(kind);
  }
  const base = identityOf.find(([kind]) => kinds.has(kind))?.[1];
  if (on && kinds.size > 1 && base) setAt(extension, [...authenticationPath, 'baseIdentityProvider'], base);
  return [];
}

/** Alternatives exist in compliant mode only; otherwise only the first requirement counts. */
function requirementsInForce(extension: JsonObject, requirements: readonly JsonObject[]): ReadonlySet<string> {
  const compliant = getAt(extension, [...authenticationPath, 'securityProcessingMode']) === 'compliant';
  return new Set((compliant ? requirements : requirements.slice(0, 1)).flatMap(it => Object.keys(it)));
}

/** The component of an API key has its location; the other schemes use the Authorization header. */
function configureScheme(
  extension: JsonObject,
  document: JsonObject,
  name: string,
  on: boolean,
): SchemeKind | undefined {
  const path = [...schemesPath, name];
  const entry = objectOrEmpty(getAt(extension, path));
  const kind = schemeKindOf(objectOrEmpty(getAt(document, ['components', 'securitySchemes', name])), entry);
  if (!kind) return undefined;
  const header = kind === 'token' ? {} : { header: { enabled: true, name: 'Authorization' } };
  setAt(extension, path, { ...header, ...entry, enabled: on });
  return kind;
}
