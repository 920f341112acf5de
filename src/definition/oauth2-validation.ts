import { findRegexError } from '#base/regex.ts';
import type { Model } from './model.ts';
import type { Fault } from './validation-error.ts';

/**
 * What checks of scopes, metadata and exchange of tokens must keep to. Asked when a definition is written, and again when
 * its secrets have been put in.
 */
type Oauth2 = Model['oauth2'];
type Provider = Oauth2['providers'][number];

export const issuerRegexPrefix = 'regex:';

/** Parameters of the request that are the gateway's own to write. */
export const reservedTokenParameters: ReadonlySet<string> = new Set([
  ...['grant_type', 'subject_token', 'subject_token_type', 'requested_token_type', 'assertion', 'audience', 'scope'],
  ...['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'],
]);

/** Paths are below the scheme. */
export function validateOauth2(given: Oauth2): Fault[] {
  if (!given.enabled) return [];
  return [
    ...validateResourceMetadata('protectedResourceMetadata', given.metadataEnabled, given),
    ...(given.exchangeEnabled ? checkTokenExchange(given.providers) : []),
  ];
}

export function validateResourceMetadata(
  path: string,
  enabled: boolean,
  { resource, wellKnownPath }: Pick<Oauth2, 'resource' | 'wellKnownPath'>,
): Fault[] {
  if (!enabled) return [];
  const faults: Fault[] = [];
  if (resource.trim() === '') faults.push({ path: `${path}.resource`, message: 'is required' });
  if (!/^[\w./~-]*$/.test(wellKnownPath) || wellKnownPath.includes('..'))
    faults.push({ path: `${path}.wellKnownPath`, message: 'is not a path' });
  return faults;
}

function checkTokenExchange(providers: readonly Provider[]): Fault[] {
  const at = 'tokenExchange.providers';
  if (providers.length === 0) return [{ path: at, message: 'needs one at least' }];
  const names = new Set<string>();
  const issuers = new Map<string, number>();
  return providers.flatMap((provider, place) => {
    const path = `${at}[${place}]`;
    const faults = checkExchangeProvider(provider).map(fault => ({ ...fault, path: `${path}.${fault.path}` }));
    if (names.has(provider.name)) faults.push({ path: `${path}.name`, message: 'is not unique' });
    names.add(provider.name);
    for (const issuer of provider.issuers) {
      const isTaken = !issuer.startsWith(issuerRegexPrefix) && (issuers.get(issuer) ?? place) !== place;
      if (isTaken) faults.push({ path: `${path}.issuers`, message: `${issuer} belongs to another provider` });
      issuers.set(issuer, place);
    }
    return faults;
  });
}

function checkExchangeProvider(provider: Provider): Fault[] {
  const { name, tokenEndpoint, clientId, clientMethod, certificateId, issuers, customParams } = provider;
  const faults: Fault[] = [];
  const wrong = (path: string, message: string) => faults.push({ path, message });
  if (name.trim() === '') wrong('name', 'is required');
  if (!isEndpoint(tokenEndpoint)) wrong('tokenEndpoint', 'must be an absolute http or https address');
  if (clientId === '') wrong('clientAuth.clientId', 'is required');
  if (clientMethod === 'private_key_jwt' && certificateId === '')
    wrong('clientAuth.certId', 'is required for private_key_jwt');
  for (const issuer of issuers) {
    const fault = issuer.startsWith(issuerRegexPrefix) && findRegexError(issuer.slice(issuerRegexPrefix.length));
    if (fault) wrong('issuers', fault);
  }
  for (const parameter of Object.keys(customParams))
    if (reservedTokenParameters.has(parameter)) wrong('customParams', `${parameter} is written by the gateway`);
  return faults;
}

const secretReference = /^(?:secrets|env|file|vault|consul|kv):\/\//;

const isEndpoint = (text: string) =>
  text.includes('$gw_context.') || secretReference.test(text) || /^https?:$/.test(URL.parse(text)?.protocol ?? '');
