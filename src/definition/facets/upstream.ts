import { z } from 'zod';
import type { DefinitionFormat, FieldCodec, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { commaListMap, negation, pairList, secondsText, tlsVersionNumber } from '../field-codecs.ts';
import { amountRule, choiceRule, flagRule, textListMapRule, textListRule, textMapRule, textRule } from '../rules.ts';
import { discoveryFields } from './discovery.ts';

export const upstream = facet({
  name: 'upstream',
  about: 'Upstream of the API.',
  classic: 'proxy',
  oas: 'upstream',
  fields: {
    url: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'target_url',
      about: 'URL of the upstream.',
    },
    preserveHostHeader: {
      rule: flagRule,
      classic: 'preserve_host_header',
      oas: 'preserveHostHeader.enabled',
      about: 'Forwards the Host header of the client instead of the host of the target.',
    },
    preserveTrailingSlash: {
      rule: flagRule,
      classic: 'disable_strip_slash',
      oas: 'preserveTrailingSlash.enabled',
      about: 'Preserves a trailing slash of the target if the request adds no path.',
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
  about: 'Load balancing over several targets.',
  classic: 'proxy',
  oas: 'upstream.loadBalancing',
  fields: {
    enabled: {
      rule: flagRule,
      classic: 'enable_load_balancing',
      about: 'Enables load balancing in place of the one URL.',
    },
    skipUnavailableHosts: {
      rule: flagRule,
      classic: 'check_host_against_uptime_tests',
      about: 'Skips targets that the uptime tests report as down.',
    },
    targets: {
      rule: z.array(z.object({ url: z.string(), weight: z.int() })).default([]),
      interpolation: ['url'],
      classic: repeatedTargets,
      oas: weightedTargets,
      about: 'Targets and their weights.',
    },
  },
});

export const serviceDiscovery = facet({
  name: 'serviceDiscovery',
  about: 'Service discovery: targets from a registry.',
  classic: 'proxy.service_discovery',
  oas: 'upstream.serviceDiscovery',
  fields: discoveryFields,
});

export const mutualTls = facet({
  name: 'mutualTls',
  about: 'Client certificates of the gateway for upstream hosts.',
  classic: '',
  oas: 'upstream.mutualTLS',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('upstream_certificates_disabled'),
      requiresAnyOf: ['certificates'],
      about: 'Enables client certificates for upstream hosts.',
    },
    certificates: {
      rule: textMapRule,
      classic: 'upstream_certificates',
      oas: pairList('domainToCertificateMapping', 'domain', 'certificate'),
      about: 'Map from host pattern to certificate id.',
    },
  },
});

export const certificatePinning = facet({
  name: 'certificatePinning',
  about: 'Certificate pinning: public keys of upstream hosts.',
  classic: '',
  oas: 'upstream.certificatePinning',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('certificate_pinning_disabled'),
      requiresAnyOf: ['publicKeys'],
      about: 'Enables certificate pinning.',
    },
    publicKeys: {
      rule: textListMapRule,
      classic: commaListMap('pinned_public_keys'),
      oas: pairList('domainToPublicKeysMapping', 'domain', 'publicKeys', z.array(z.string())),
      about: 'Map from host pattern to public key ids.',
    },
  },
});

export const rateLimit = facet({
  name: 'rateLimit',
  about: 'Rate limit of the whole API.',
  classic: 'global_rate_limit',
  oas: 'upstream.rateLimit',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('disabled'),
      requiresAnyOf: ['rate'],
      about: 'Enables the rate limit.',
    },
    rate: { rule: amountRule, about: 'Maximum number of requests per period.' },
    perSeconds: {
      rule: amountRule,
      classic: 'per',
      oas: secondsText('per', 'iso'),
      about: 'Period: seconds in the classic format, a duration such as PT1M30S in the OpenAPI format.',
    },
  },
});

/** Authorities of one API. */
const maxCaCertificates = 100;

export const transport = facet({
  name: 'transport',
  about: 'Connections to the upstream.',
  classic: 'proxy.transport',
  oas: 'upstream.tlsTransport',
  fields: {
    insecureSkipVerify: {
      rule: flagRule,
      classic: 'ssl_insecure_skip_verify',
      about: 'Accepts any upstream certificate. For development only.',
    },
    caCertificates: {
      rule: z.array(z.string()).max(maxCaCertificates).default([]),
      classic: 'ssl_ca_certificates',
      about: 'Ids of stored certificates of authorities that certificates of the upstream are verified with.',
    },
    caCertificatesOnly: {
      rule: flagRule,
      classic: 'ssl_ca_certificates_only',
      about: 'Trusts these authorities alone, not those of the system and of the installation as well.',
    },
    ciphers: { rule: textListRule, classic: 'ssl_ciphers', about: 'Allowed cipher suites; empty for the defaults.' },
    minVersion: {
      rule: choiceRule('1.0', '1.1', '1.2', '1.3'),
      classic: tlsVersionNumber('ssl_min_version'),
      about: 'Minimum TLS version.',
    },
    maxVersion: {
      rule: choiceRule('1.0', '1.1', '1.2', '1.3'),
      classic: tlsVersionNumber('ssl_max_version'),
      about: 'Maximum TLS version.',
    },
    forceCommonNameCheck: {
      rule: flagRule,
      classic: 'ssl_force_common_name_check',
      about: 'Requires the host name as common name of the upstream certificate.',
    },
    proxyEnabled: {
      rule: flagRule,
      classic: null,
      oas: '/upstream.proxy.enabled',
      about: 'Enables the forward proxy.',
    },
    proxyUrl: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      classic: 'proxy_url',
      oas: '/upstream.proxy.url',
      about: 'URL of the forward proxy to the upstream.',
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
  about: 'Signatures of upstream requests.',
  classic: 'request_signing',
  oas: 'upstream.authentication.requestSigning',
  fields: {
    enabled: { rule: flagRule, classic: 'is_enabled', about: 'Enables signatures.' },
    algorithm: { rule: textRule, about: 'Signature algorithm: hmac-sha1, -sha256, -sha384, -sha512 or rsa-sha256.' },
    keyId: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'key_id',
      about: 'Key id of the signature.',
    },
    secret: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      about: 'Shared secret of the hmac algorithms.',
    },
    certificateId: { rule: textRule, classic: 'certificate_id', about: 'Id of the certificate of rsa-sha256.' },
    headers: {
      rule: textListRule,
      interpolation: 'secret',
      classic: 'header_list',
      about: 'Signed headers; empty for all.',
    },
    signatureHeader: { rule: textRule, classic: 'signature_header', about: 'Name of the header with the signature.' },
  },
});
