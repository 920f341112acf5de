import { z } from 'zod';
import type { DefinitionFormat, FieldCodec, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import {
  commaListMap,
  millisecondsText,
  negation,
  pairList,
  secondsNumber,
  secondsText,
  tlsVersionNumber,
  wholeSecondsText,
} from '../field-codecs.ts';
import {
  amountRule,
  choiceRule,
  countRule,
  flagRule,
  secondsRule,
  textListMapRule,
  textListRule,
  textMapRule,
  textRule,
} from '../rules.ts';
import { discoveryFields } from './discovery.ts';

export const upstream = facet({
  name: 'upstream',
  about: 'Where calls go.',
  classic: 'proxy',
  oas: 'upstream',
  fields: {
    url: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'target_url',
      about: 'The address of the service behind the API.',
    },
    preserveHostHeader: {
      rule: flagRule,
      classic: 'preserve_host_header',
      oas: 'preserveHostHeader.enabled',
      about: 'Sends the Host header of the caller instead of the one of the target.',
    },
    preserveTrailingSlash: {
      rule: flagRule,
      classic: 'disable_strip_slash',
      oas: 'preserveTrailingSlash.enabled',
      about: 'Keeps a trailing slash of the target when the call adds no path.',
    },
  },
});

/** The classic format repeats a target to give it weight. */
const repeatedTargets: FieldCodec = {
  path: 'target_list',
  schema: z.array(z.string()).nullable(),
  decode: wire => {
    const weights = new Map<string, number>();
    for (const url of wire as string[]) weights.set(url, (weights.get(url) ?? 0) + 1);
    return [...weights].map(([url, weight]) => ({ url, weight }));
  },
  encode: value => (value as { url: string; weight: number }[]).flatMap(({ url, weight }) => Array(weight).fill(url)),
};
const weightedTargets: FieldCodec = {
  path: 'targets',
  schema: z.array(z.looseObject({ url: z.string(), weight: z.int().min(0).max(1000).optional() })).nullable(),
  decode: wire => (wire as { url: string; weight?: number }[]).map(({ url, weight }) => ({ url, weight: weight ?? 0 })),
};

export const loadBalancing = facet({
  name: 'loadBalancing',
  about: 'Spreads calls over several targets.',
  classic: 'proxy',
  oas: 'upstream.loadBalancing',
  fields: {
    enabled: {
      rule: flagRule,
      classic: 'enable_load_balancing',
      about: 'Uses the targets instead of the one address.',
    },
    skipUnavailableHosts: {
      rule: flagRule,
      classic: 'check_host_against_uptime_tests',
      about: 'Leaves out targets that the uptime tests found down.',
    },
    targets: {
      rule: z.array(z.object({ url: z.string(), weight: z.int() })).default([]),
      interpolation: ['url'],
      classic: repeatedTargets,
      oas: weightedTargets,
      about: 'The targets and the share of calls each one takes.',
    },
  },
});

export const serviceDiscovery = facet({
  name: 'serviceDiscovery',
  about: 'Asks a registry where the service is.',
  classic: 'proxy.service_discovery',
  oas: 'upstream.serviceDiscovery',
  fields: discoveryFields,
});

export const mutualTls = facet({
  name: 'mutualTls',
  about: 'The certificates the gateway shows to upstream hosts.',
  classic: '',
  oas: 'upstream.mutualTLS',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('upstream_certificates_disabled'),
      requiresAnyOf: ['certificates'],
      about: 'Shows them.',
    },
    certificates: {
      rule: textMapRule,
      classic: 'upstream_certificates',
      oas: pairList('domainToCertificateMapping', 'domain', 'certificate'),
      about: 'Host pattern to certificate id.',
    },
  },
});

export const certificatePinning = facet({
  name: 'certificatePinning',
  about: 'Upstream hosts must show one of these public keys.',
  classic: '',
  oas: 'upstream.certificatePinning',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('certificate_pinning_disabled'),
      requiresAnyOf: ['publicKeys'],
      about: 'Checks them.',
    },
    publicKeys: {
      rule: textListMapRule,
      classic: commaListMap('pinned_public_keys'),
      oas: pairList('domainToPublicKeysMapping', 'domain', 'publicKeys', z.array(z.string())),
      about: 'Host pattern to public key ids.',
    },
  },
});

export const rateLimit = facet({
  name: 'rateLimit',
  about: 'How many calls the API as a whole takes in a period.',
  classic: 'global_rate_limit',
  oas: 'upstream.rateLimit',
  fields: {
    enabled: { rule: flagRule, classic: negation('disabled'), requiresAnyOf: ['rate'], about: 'Counts and refuses.' },
    rate: { rule: amountRule, about: 'Calls allowed in one period.' },
    perSeconds: { rule: amountRule, classic: 'per', oas: secondsText('per', 'iso'), about: 'Length of the period.' },
  },
});

export const transport = facet({
  name: 'transport',
  about: 'How the connection to the upstream is made.',
  classic: 'proxy.transport',
  oas: 'upstream.tlsTransport',
  fields: {
    insecureSkipVerify: {
      rule: flagRule,
      classic: 'ssl_insecure_skip_verify',
      about: 'Accepts any upstream certificate. For development only.',
    },
    ciphers: { rule: textListRule, classic: 'ssl_ciphers', about: 'Cipher suites allowed; empty for the usual ones.' },
    minVersion: {
      rule: choiceRule('1.0', '1.1', '1.2', '1.3'),
      classic: tlsVersionNumber('ssl_min_version'),
      about: 'The oldest TLS version accepted.',
    },
    maxVersion: {
      rule: choiceRule('1.0', '1.1', '1.2', '1.3'),
      classic: tlsVersionNumber('ssl_max_version'),
      about: 'The newest TLS version offered.',
    },
    forceCommonNameCheck: {
      rule: flagRule,
      classic: 'ssl_force_common_name_check',
      about: 'The common name of the upstream certificate must be the host name.',
    },
    proxyEnabled: { rule: flagRule, classic: null, oas: '/upstream.proxy.enabled', about: 'Uses the forward proxy.' },
    proxyUrl: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      classic: 'proxy_url',
      oas: '/upstream.proxy.url',
      about: 'A forward proxy to reach the upstream through.',
    },
  },
  lens: { fields: ['proxyEnabled'], derive: deriveProxy },
});

/** The classic format has no switch: an address enables the proxy. */
function deriveProxy(values: Values, from: DefinitionFormat): Values {
  const { proxyEnabled: on, proxyUrl: url } = values;
  return from === 'oas' ? { ...values, proxyUrl: on ? url : '' } : { ...values, proxyEnabled: url !== '' };
}

export const requestSigning = facet({
  name: 'requestSigning',
  about: 'Signs calls to the upstream.',
  classic: 'request_signing',
  oas: 'upstream.authentication.requestSigning',
  fields: {
    enabled: { rule: flagRule, classic: 'is_enabled', about: 'Signs them.' },
    algorithm: { rule: textRule, about: 'hmac-sha1, -sha256, -sha384, -sha512 or rsa-sha256.' },
    keyId: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'key_id',
      about: 'The key id written into the signature.',
    },
    secret: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      about: 'The shared secret of the hmac algorithms.',
    },
    certificateId: { rule: textRule, classic: 'certificate_id', about: 'The certificate of rsa-sha256.' },
    headers: {
      rule: textListRule,
      interpolation: 'secret',
      classic: 'header_list',
      about: 'Headers that are signed; empty for all.',
    },
    signatureHeader: { rule: textRule, classic: 'signature_header', about: 'The header that carries the signature.' },
  },
});

const oauthClientFields = {
  clientId: {
    rule: textRule,
    interpolation: 'secret',
    classic: 'client_id',
    about: 'Client id at the authorisation server.',
  },
  clientSecret: {
    rule: textRule,
    interpolation: 'secret',
    secret: 'all',
    classic: 'client_secret',
    about: 'Client secret at the authorisation server.',
  },
  tokenUrl: { rule: textRule, interpolation: 'secret', classic: 'token_url', about: 'Where tokens are asked for.' },
  method: {
    rule: textRule,
    about: 'How the client is shown: client_secret_basic or client_secret_post.',
  },
  scopes: { rule: textListRule, about: 'Scopes asked for.' },
  headerEnabled: {
    rule: flagRule,
    classic: 'header.enabled',
    oas: 'header.enabled',
    about: 'Sends the token in a header.',
  },
  headerName: {
    rule: textRule,
    classic: 'header.name',
    oas: 'header.name',
    about: 'That header; Authorization when empty.',
  },
  extraMetadata: {
    rule: textListRule,
    classic: 'extra_metadata',
    about: 'Members of the token reply that become facts of the call.',
  },
} as const;

export const upstreamAuth = facet({
  name: 'upstreamAuth',
  about: 'How the gateway signs in at the upstream.',
  classic: 'upstream_auth',
  oas: 'upstream.authentication',
  fields: {
    enabled: { rule: flagRule, about: 'Signs in.' },
    basicEnabled: { rule: flagRule, classic: 'basic_auth.enabled', oas: 'basicAuth.enabled', about: 'By user name.' },
    basicUsername: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'basic_auth.username',
      oas: 'basicAuth.username',
      about: 'User name.',
    },
    basicPassword: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      classic: 'basic_auth.password',
      oas: 'basicAuth.password',
      about: 'Password.',
    },
    basicHeaderEnabled: {
      rule: flagRule,
      classic: 'basic_auth.header.enabled',
      oas: 'basicAuth.header.enabled',
      about: 'Sends them in a header of another name.',
    },
    basicHeaderName: {
      rule: textRule,
      classic: 'basic_auth.header.name',
      oas: 'basicAuth.header.name',
      about: 'That header; Authorization when empty.',
    },
    oauthEnabled: { rule: flagRule, classic: 'oauth.enabled', oas: 'oauth.enabled', about: 'By OAuth token.' },
    allowedAuthorizeTypes: {
      rule: textListRule,
      classic: 'oauth.allowed_authorize_types',
      oas: 'oauth.allowedAuthorizeTypes',
      about: 'clientCredentials or password.',
    },
  },
});

const oauthGrantFacet = (fields: typeof oauthClientFields, grant: string) =>
  facet({
    name: grant,
    about: 'A client of an authorisation server that the gateway fetches upstream tokens from.',
    classic: `upstream_auth.oauth.${grant === 'upstreamPassword' ? 'password' : 'client_credentials'}`,
    oas: `upstream.authentication.oauth.${grant === 'upstreamPassword' ? 'password' : 'clientCredentials'}`,
    fields: {
      ...fields,
      username: { rule: textRule, interpolation: 'secret', about: 'The user of the password grant.' },
      password: {
        rule: textRule,
        interpolation: 'secret',
        secret: 'all',
        about: 'The password of the password grant.',
      },
    },
  });

export const upstreamClientCredentials = oauthGrantFacet(oauthClientFields, 'upstreamClientCredentials');
export const upstreamPassword = oauthGrantFacet(oauthClientFields, 'upstreamPassword');

const checkFields = {
  url: { rule: textRule, interpolation: 'secret', about: 'What is called.' },
  protocol: { rule: textRule, oas: null, about: 'tcp or tls; anything else is HTTP.' },
  timeoutMs: {
    rule: countRule,
    classic: 'timeout',
    oas: millisecondsText('timeout'),
    about: 'How long an answer may take.',
  },
  method: { rule: textRule, about: 'The method; GET when empty.' },
  headers: { rule: textMapRule, interpolation: 'secret', secret: 'all', about: 'Headers sent.' },
  body: { rule: textRule, interpolation: 'secret', secret: 'all', about: 'Body sent, in base64.' },
  enableProxyProtocol: {
    rule: flagRule,
    classic: 'enable_proxy_protocol',
    about: 'Starts with a PROXY protocol header.',
  },
  commands: {
    list: {
      name: { rule: textRule, about: 'send or expect.' },
      message: { rule: textRule, interpolation: 'secret', secret: 'all', about: 'What is sent or expected.' },
    },
    about: 'What is said over a raw connection.',
  },
} as const;

export const uptimeTests = facet({
  name: 'uptimeTests',
  about: 'Calls the gateway makes to learn which upstream hosts are alive.',
  classic: 'uptime_tests',
  oas: 'upstream.uptimeTests',
  fields: {
    enabled: { rule: flagRule, classic: negation('disabled'), requiresAnyOf: ['tests'], about: 'Makes them.' },
    tests: { list: checkFields, classic: 'check_list', about: 'The calls.' },
    hostDownRetestSeconds: {
      rule: secondsRule,
      classic: secondsNumber('config.recheck_wait'),
      oas: wholeSecondsText('hostDownRetestPeriod'),
      about: 'Wait before a discovered list of tests is read again.',
    },
    logRetentionSeconds: {
      rule: secondsRule,
      classic: secondsNumber('config.expire_utime_after'),
      oas: wholeSecondsText('logRetentionPeriod'),
      about: 'How long results are stored; 0 leaves it to the setting.',
    },
  },
});

export const uptimeDiscovery = facet({
  name: 'uptimeDiscovery',
  about: 'Asks a registry for the list of uptime tests.',
  classic: 'uptime_tests.config.service_discovery',
  // `test` is the older name of `uptimeTests`.
  oas: ['upstream.uptimeTests.serviceDiscovery', 'upstream.test.serviceDiscovery'],
  fields: discoveryFields,
});
