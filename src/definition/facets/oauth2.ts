import { z } from 'zod';
import { facet } from '../facet.ts';
import { millisecondsText } from '../field-codecs.ts';
import { choiceRule, flagRule, textListRule, textMapRule, textRule } from '../rules.ts';
import { authSourceFields } from './authentication.ts';

const exchangeProvider = {
  name: { rule: textRule, about: 'Name of the provider.' },
  grantType: { rule: choiceRule('token-exchange', 'jwt-bearer'), about: 'Grant type; token-exchange if empty.' },
  issuers: {
    rule: textListRule,
    about: 'Accepted issuers: an issuer, or `regex:` and a pattern; empty for issuers that no other provider accepts.',
  },
  tokenEndpoint: {
    rule: textRule,
    interpolation: 'secret or variables',
    about: 'URL of the token endpoint; may contain context variables.',
  },
  clientMethod: {
    rule: choiceRule('client_secret_basic', 'client_secret_post', 'private_key_jwt'),
    oas: 'clientAuth.method',
    about: 'Client authentication of the gateway at the provider; client_secret_basic if empty.',
  },
  clientId: {
    rule: textRule,
    interpolation: 'secret',
    oas: 'clientAuth.clientId',
    about: 'Client id of the gateway at the provider.',
  },
  clientSecret: {
    rule: textRule,
    interpolation: 'secret',
    secret: 'all',
    oas: 'clientAuth.clientSecret',
    about: 'Client secret of the gateway at the provider.',
  },
  certificateId: {
    rule: textRule,
    oas: 'clientAuth.certId',
    about: 'Id of the certificate whose key signs for private_key_jwt.',
  },
  audience: {
    rule: textRule,
    interpolation: 'secret',
    oas: 'defaultTarget.audience',
    about: 'Audience of the new tokens.',
  },
  scopes: { rule: textListRule, oas: 'defaultTarget.scopes', about: 'Scopes of the new tokens.' },
  timeoutMs: {
    rule: z.number().min(0).default(15_000),
    oas: millisecondsText('timeout'),
    about: 'Timeout of requests to the provider, as a duration such as 1m30s.',
  },
  customParams: {
    rule: textMapRule,
    interpolation: 'variables',
    secret: 'all',
    about: 'Additional parameters of the request; may contain context variables.',
  },
  cacheEnabled: { rule: flagRule, oas: 'cache.enabled', about: 'Caches new tokens per client token.' },
  cacheMode: {
    rule: choiceRule('derived', 'static'),
    oas: 'cache.mode',
    about: 'derived: for the lifetime of the new token. static: for a fixed time, at most that lifetime.',
  },
  cacheMostMs: {
    rule: z.number().min(0).default(0),
    oas: millisecondsText('cache.maxTimeout'),
    about: 'Maximum derived caching time, as a duration such as 1m30s; 0 for no maximum.',
  },
  cacheMs: {
    rule: z.number().min(0).default(0),
    oas: millisecondsText('cache.timeout'),
    about: 'Fixed caching time, as a duration such as 1m30s.',
  },
  safetyMarginMs: {
    rule: z.number().min(0).default(30_000),
    oas: millisecondsText('cache.safetyMargin'),
    about: 'Duration such as 1m30s before its expiry at which a cached token is discarded.',
  },
} as const;

export const oauth2 = facet({
  name: 'oauth2',
  about: 'Scope checks and token exchange in addition to another auth method.',
  classic: null,
  oas: '@oauth2',
  fields: {
    enabled: { rule: flagRule, about: 'Enables the scheme.' },
    ...oasOnly(authSourceFields('')),
    scopeCheckEnabled: {
      rule: flagRule,
      oas: 'scopeCheck.enabled',
      about: 'Enables the check of the scopes that the document requires for the scheme.',
    },
    scopeClaims: {
      rule: textListRule,
      oas: 'scopeCheck.claimNames',
      about: 'Names of the scope claims, whose values are combined; scope and scp if empty.',
    },
    scopeSeparator: {
      rule: textRule,
      oas: 'scopeCheck.separator',
      about: 'Separator of scopes in one text; a space if empty.',
    },
    scopeSource: {
      rule: choiceRule('union', 'operation', 'global'),
      oas: 'scopeCheck.scopeSource',
      about: 'Source of the required scopes: the operation, the whole document, or both.',
    },
    metadataEnabled: {
      rule: flagRule,
      oas: 'protectedResourceMetadata.enabled',
      about: 'Serves the metadata document of RFC 9728 with the authorization servers.',
    },
    wellKnownPath: {
      rule: textRule,
      oas: 'protectedResourceMetadata.wellKnownPath',
      about: 'Path of the document below the listen path; .well-known/oauth-protected-resource if empty.',
    },
    resource: {
      rule: textRule,
      oas: 'protectedResourceMetadata.resource',
      about: 'Identifier of the protected resource.',
    },
    authorizationServers: {
      rule: textListRule,
      oas: 'protectedResourceMetadata.authorizationServers',
      about: 'Authorization servers of the resource.',
    },
    autoDeriveScopes: {
      rule: z.boolean().default(true),
      oas: 'protectedResourceMetadata.autoDeriveScopes',
      about: 'Lists the scopes of the OpenAPI document.',
    },
    exchangeEnabled: {
      rule: flagRule,
      oas: 'tokenExchange.enabled',
      about: 'Exchanges the token of the client for one for the upstream.',
    },
    providers: { list: exchangeProvider, oas: 'tokenExchange.providers', about: 'Providers of the token exchange.' },
  },
});

/** Removes the classic location from fields that only the OpenAPI format has. */
function oasOnly<T extends Record<string, object>>({ label: _, ...fields }: T & { label: object }) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, classic: null }])) as {
    [K in keyof Omit<T, 'label'>]: Omit<T[K], 'classic'> & { classic: null };
  };
}

export const metadataDocument = facet({
  name: 'metadataDocument',
  about: 'Protected-resource metadata of the whole API; that of a scheme takes precedence.',
  classic: null,
  oas: 'server.authentication.protectedResourceMetadata',
  fields: {
    enabled: { rule: flagRule, about: 'Serves the metadata document.' },
    wellKnownPath: {
      rule: textRule,
      about: 'Path of the document below the listen path; .well-known/oauth-protected-resource if empty.',
    },
    resource: { rule: textRule, about: 'Identifier of the protected resource.' },
    authorizationServers: { rule: textListRule, about: 'Authorization servers of the resource.' },
    scopesSupported: { rule: textListRule, about: 'Supported scopes.' },
  },
});
