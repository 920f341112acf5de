import { type FormObject, readFieldValue, toJsonObject, withMember } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';

/** Security schemes of an OpenAPI document: declared in `components`, required in `security`, set up by the gateway. */
export type AuthMethodKind = 'key' | 'jwt' | 'basic' | 'oauth2' | 'other';

const sources = ['header', 'query', 'cookie'];

/** Settings that each kind uses; a scheme of another kind offers all. */
export const schemeFields: Readonly<Record<AuthMethodKind, readonly string[]>> = {
  key: [...sources, 'enableClientCertificate', 'signatureValidation'],
  jwt: [
    ...sources,
    ...['source', 'jwksURIs', 'signingMethod', 'identityBaseField', 'policyFieldName', 'clientBaseField'],
    ...['defaultPolicies', 'scopes', 'allowedIssuers', 'allowedAudiences', 'allowedSubjects', 'skipKid'],
  ],
  basic: ['header', 'disableCaching', 'cacheTTL', 'extractCredentialsFromBody'],
  oauth2: [
    'header',
    'allowedAuthorizeTypes',
    'allowedAccessTypes',
    'refreshToken',
    'authLoginRedirect',
    'notifications',
  ],
  other: [...sources, 'providers', 'scopeCheck', 'tokenExchange', 'protectedResourceMetadata'],
};

const declarations: Readonly<
  Record<Exclude<AuthMethodKind, 'other'>, { readonly name: string; readonly scheme: FormObject }>
> = {
  key: { name: 'authToken', scheme: { type: 'apiKey', in: 'header', name: 'Authorization' } },
  jwt: { name: 'jwtAuth', scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  basic: { name: 'basicAuth', scheme: { type: 'http', scheme: 'basic' } },
  oauth2: {
    name: 'oauth',
    scheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/oauth/token/', scopes: {} } } },
  },
};

const settingsPath = [gatewayMember, 'server', 'authentication'];
const schemesPath = [...settingsPath, 'securitySchemes'];
const declaredPath = ['components', 'securitySchemes'];

export const listSchemes = (definition: FormObject): readonly string[] => [
  ...new Set([declaredPath, schemesPath].flatMap(path => Object.keys(toJsonObject(readFieldValue(definition, path))))),
];

export function findSchemeKind(definition: FormObject, name: string): AuthMethodKind {
  const { type, scheme } = toJsonObject(readFieldValue(definition, [...declaredPath, name]));
  if (type === 'apiKey') return 'key';
  if (type === 'oauth2') return 'oauth2';
  if (type !== 'http') return 'other';
  return scheme === 'bearer' ? 'jwt' : scheme === 'basic' ? 'basic' : 'other';
}

const listRequirements = (definition: FormObject): readonly FormObject[] =>
  Array.isArray(definition.security) ? definition.security.map(toJsonObject) : [];

/** Adds a method: every request must satisfy it beside those that the first requirement already has. */
export function addScheme(definition: FormObject, kind: AuthMethodKind): unknown {
  const { name: wanted, scheme } = declarations[kind === 'other' ? 'key' : kind];
  const taken = new Set(listSchemes(definition));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}${number}`;
  const [first = {}, ...others] = listRequirements(definition);
  const settings = { enabled: true, header: { enabled: true, name: 'Authorization' } };
  let next = withMember(definition, [...declaredPath, name], scheme);
  next = withMember(next, ['security'], [{ ...first, [name]: [] }, ...others]);
  next = withMember(next, [...settingsPath, 'enabled'], true);
  return withMember(next, [...schemesPath, name], settings);
}

/** Removes a method from its three places; a requirement without methods goes with it. */
export function removeScheme(definition: FormObject, name: string): unknown {
  const without = listRequirements(definition)
    .map(it => toJsonObject(withMember(it, [name], undefined)))
    .filter(it => Object.keys(it).length > 0);
  let next = withMember(definition, [...declaredPath, name], undefined);
  if (readFieldValue(next, schemesPath) !== undefined) next = withMember(next, [...schemesPath, name], undefined);
  return withMember(next, ['security'], without.length === 0 ? undefined : without);
}
