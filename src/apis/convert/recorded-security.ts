import type { JsonObject } from '#base/json-tree.ts';
import type { RecordedRequest, RecordedSecurity } from './recorded-request.ts';

/** Names of headers and query parameters that carry a credential in most APIs. */
const credentialNames = new Set(
  (
    'authorization apikey xapikey appkey xappkey authkey xauthkey accesstoken xaccesstoken authtoken xauthtoken ' +
    'apitoken xapitoken clientsecret subscriptionkey ocpapimsubscriptionkey'
  ).split(' '),
);

export const isCredentialName = (name: string): boolean =>
  credentialNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));

/** Security schemes of a document, each once. */
export interface SecuritySchemes {
  /** Adds the scheme of a request. Gives its security requirement; undefined where it carries no credential. */
  add(request: RecordedRequest): JsonObject[] | undefined;
  list(): JsonObject;
}

export function createSecuritySchemes(): SecuritySchemes {
  const schemes = new Map<string, JsonObject>();
  return {
    add(request) {
      const security = request.security ?? findSecurity(request);
      if (!security || security.kind === 'none') return undefined;
      const [name, scheme] = toScheme(security);
      schemes.set(name, scheme);
      return [{ [name]: [] }];
    },
    list: () => Object.fromEntries(schemes),
  };
}

function findSecurity({ headers, query }: RecordedRequest): RecordedSecurity | undefined {
  const authorization = headers.find(({ name }) => name.toLowerCase() === 'authorization');
  if (authorization) {
    const [scheme = ''] = authorization.value.trim().toLowerCase().split(/\s+/, 1);
    if (scheme === 'basic' || scheme === 'bearer') return { kind: scheme };
    return { kind: 'apiKey', in: 'header', name: 'Authorization' };
  }
  const header = headers.find(({ name }) => isCredentialName(name));
  if (header) return { kind: 'apiKey', in: 'header', name: header.name };
  const parameter = query.find(({ name }) => isCredentialName(name));
  return parameter && { kind: 'apiKey', in: 'query', name: parameter.name };
}

function toScheme(security: Exclude<RecordedSecurity, { kind: 'none' }>): [string, JsonObject] {
  if (security.kind !== 'apiKey') return [security.kind as string, { type: 'http', scheme: security.kind }];
  const { in: place, name } = security;
  const label = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') || 'key';
  return [`apiKey-${place}-${label}`, { type: 'apiKey', in: place, name }];
}
