import { findRegexError } from '#base/regex.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { Model } from './model.ts';

/**
 * OAuth 2.0 settings: scope checks, protected resource metadata (RFC 9728) and token exchange (RFC 8693). Checked when
 * a definition is written, and again after its secrets are resolved.
 */
type Oauth2 = Model['oauth2'];
type Provider = Oauth2['providers'][number];

export const issuerRegexPrefix = 'regex:';

/** Parameters that the gateway itself sets in a token request. */
const reservedTokenParameters: ReadonlySet<string> = new Set([
  ...['grant_type', 'subject_token', 'subject_token_type', 'requested_token_type', 'assertion', 'audience', 'scope'],
  ...['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'],
]);

/** Paths are relative to the scheme. */
export function validateOauth2(settings: Oauth2, source: MetadataSource): ValidationError[] {
  if (!settings.enabled) return [];
  return [
    ...validateResourceMetadata(
      'protectedResourceMetadata',
      settings.metadataEnabled,
      { ...settings, scopesSupported: [] },
      source,
    ),
    ...(settings.exchangeEnabled ? checkTokenExchange(settings.providers) : []),
  ];
}

/** The API that the metadata describe. */
export interface MetadataSource {
  readonly isMcp: boolean;
  readonly upstreamUrl: string;
}

type MetadataFields = Omit<Model['metadataDocument'], 'enabled'>;

/** Metadata of an MCP proxy without fields of their own are those of its upstream. */
export const isMirroredMetadata = (
  { resource, authorizationServers, scopesSupported }: MetadataFields,
  { isMcp }: MetadataSource,
): boolean => isMcp && resource.trim() === '' && authorizationServers.length === 0 && scopesSupported.length === 0;

export function validateResourceMetadata(
  path: string,
  enabled: boolean,
  fields: MetadataFields,
  source: MetadataSource,
): ValidationError[] {
  if (!enabled) return [];
  const { resource, wellKnownPath, authorizationServers } = fields;
  const errors: ValidationError[] = [];
  const isMirrored = isMirroredMetadata(fields, source);
  if (isMirrored && /^gw:/i.test(source.upstreamUrl.trim()))
    errors.push({ path: `${path}.resource`, message: 'is required: a loop has no metadata of its own' });
  if (!isMirrored && resource.trim() === '') errors.push({ path: `${path}.resource`, message: 'is required' });
  if (!isMirrored && source.isMcp && authorizationServers.length === 0)
    errors.push({ path: `${path}.authorizationServers`, message: 'must have at least one item' });
  if (!/^[\w./~-]*$/.test(wellKnownPath) || wellKnownPath.includes('..'))
    errors.push({ path: `${path}.wellKnownPath`, message: 'is not a path' });
  return errors;
}

function checkTokenExchange(providers: readonly Provider[]): ValidationError[] {
  const at = 'tokenExchange.providers';
  if (providers.length === 0) return [{ path: at, message: 'must have at least one item' }];
  const names = new Set<string>();
  const issuers = new Map<string, number>();
  return providers.flatMap((provider, place) => {
    const path = `${at}[${place}]`;
    const errors = checkExchangeProvider(provider).map(error => ({ ...error, path: `${path}.${error.path}` }));
    if (names.has(provider.name)) errors.push({ path: `${path}.name`, message: 'is not unique' });
    names.add(provider.name);
    for (const issuer of provider.issuers) {
      const isTaken = !issuer.startsWith(issuerRegexPrefix) && (issuers.get(issuer) ?? place) !== place;
      if (isTaken) errors.push({ path: `${path}.issuers`, message: `${issuer} belongs to another provider` });
      issuers.set(issuer, place);
    }
    return errors;
  });
}

function checkExchangeProvider(provider: Provider): ValidationError[] {
  const { name, tokenEndpoint, clientId, clientMethod, certificateId, issuers, customParams } = provider;
  const errors: ValidationError[] = [];
  const wrong = (path: string, message: string) => errors.push({ path, message });
  if (name.trim() === '') wrong('name', 'is required');
  if (!isEndpoint(tokenEndpoint)) wrong('tokenEndpoint', 'must be an absolute http or https address');
  if (clientId === '') wrong('clientAuth.clientId', 'is required');
  if (clientMethod === 'private_key_jwt' && certificateId === '')
    wrong('clientAuth.certId', 'is required for private_key_jwt');
  for (const issuer of issuers) {
    const error = issuer.startsWith(issuerRegexPrefix) && findRegexError(issuer.slice(issuerRegexPrefix.length));
    if (error) wrong('issuers', error);
  }
  for (const parameter of Object.keys(customParams))
    if (reservedTokenParameters.has(parameter)) wrong('customParams', `${parameter} is written by the gateway`);
  return errors;
}

const secretReference = /^(?:secrets|env|file|vault|consul|kv):\/\//;

const isEndpoint = (text: string) =>
  text.includes('$gw_context.') || secretReference.test(text) || /^https?:$/.test(URL.parse(text)?.protocol ?? '');
