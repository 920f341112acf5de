import { z } from 'zod';
import { facet } from '../facet.ts';
import { millisecondsText } from '../field-codecs.ts';
import { choiceRule, flagRule, textListRule, textMapRule, textRule } from '../rules.ts';
import { authSourceFields } from './authentication.ts';

const exchangeProvider = {
  name: { rule: textRule, about: 'What it is called.' },
  grantType: { rule: choiceRule('token-exchange', 'jwt-bearer'), about: 'How it is asked; token-exchange when empty.' },
  issuers: {
    rule: textListRule,
    about:
      'Issuers whose tokens it accepts: an issuer, or `regex:` and a pattern; empty for those no other provider accepts.',
  },
  tokenEndpoint: {
    rule: textRule,
    interpolation: 'secret or variables',
    about: 'Its address; may name context variables.',
  },
  clientMethod: {
    rule: choiceRule('client_secret_basic', 'client_secret_post', 'private_key_jwt'),
    oas: 'clientAuth.method',
    about: 'How the gateway signs in there; client_secret_basic when empty.',
  },
  clientId: { rule: textRule, interpolation: 'secret', oas: 'clientAuth.clientId', about: 'Client id there.' },
  clientSecret: {
    rule: textRule,
    interpolation: 'secret',
    secret: 'all',
    oas: 'clientAuth.clientSecret',
    about: 'Client secret there.',
  },
  certificateId: {
    rule: textRule,
    oas: 'clientAuth.certId',
    about: 'The certificate whose key signs for private_key_jwt.',
  },
  audience: {
    rule: textRule,
    interpolation: 'secret',
    oas: 'defaultTarget.audience',
    about: 'Whom new tokens are for.',
  },
  scopes: { rule: textListRule, oas: 'defaultTarget.scopes', about: 'What they may be used for.' },
  timeoutMs: {
    rule: z.number().min(0).default(15_000),
    oas: millisecondsText('timeout'),
    about: 'How long it may take to answer.',
  },
  customParams: {
    rule: textMapRule,
    interpolation: 'variables',
    secret: 'all',
    about: 'Further parameters of the request; may name context variables.',
  },
  cacheEnabled: { rule: flagRule, oas: 'cache.enabled', about: 'Keeps new tokens for the same caller’s token.' },
  cacheMode: {
    rule: choiceRule('derived', 'static'),
    oas: 'cache.mode',
    about: 'derived: as long as the new token lasts. static: for a fixed time, but no longer than it lasts.',
  },
  cacheMostMs: {
    rule: z.number().min(0).default(0),
    oas: millisecondsText('cache.maxTimeout'),
    about: 'The longest a derived time may be; 0 for any.',
  },
  cacheMs: {
    rule: z.number().min(0).default(0),
    oas: millisecondsText('cache.timeout'),
    about: 'The fixed time.',
  },
  safetyMarginMs: {
    rule: z.number().min(0).default(30_000),
    oas: millisecondsText('cache.safetyMargin'),
    about: 'How long before its expiry a cached token is discarded.',
  },
} as const;

export const oauth2 = facet({
  name: 'oauth2',
  about: 'Scope checks and token exchange in addition to another auth method.',
  classic: null,
  oas: '@oauth2',
  fields: {
    enabled: { rule: flagRule, about: 'Turns the scheme on.' },
    ...oasOnly(authSourceFields('')),
    scopeCheckEnabled: {
      rule: flagRule,
      oas: 'scopeCheck.enabled',
      about: 'Asks for the scopes that the document lists for the scheme.',
    },
    scopeClaims: {
      rule: textListRule,
      oas: 'scopeCheck.claimNames',
      about: 'Claims that hold scopes, taken together; scope and scp when empty.',
    },
    scopeSeparator: {
      rule: textRule,
      oas: 'scopeCheck.separator',
      about: 'What stands between scopes in one text; a space when empty.',
    },
    scopeSource: {
      rule: choiceRule('union', 'operation', 'global'),
      oas: 'scopeCheck.scopeSource',
      about: 'Which lists count: those of the operation, those of the whole document, or both.',
    },
    metadataEnabled: {
      rule: flagRule,
      oas: 'protectedResourceMetadata.enabled',
      about: 'Serves the metadata document (RFC 9728) that names the authorization servers.',
    },
    wellKnownPath: {
      rule: textRule,
      oas: 'protectedResourceMetadata.wellKnownPath',
      about: 'Where, below the listen path; .well-known/oauth-protected-resource when empty.',
    },
    resource: { rule: textRule, oas: 'protectedResourceMetadata.resource', about: 'The resource it is about.' },
    authorizationServers: {
      rule: textListRule,
      oas: 'protectedResourceMetadata.authorizationServers',
      about: 'Where to get a token.',
    },
    autoDeriveScopes: {
      rule: z.boolean().default(true),
      oas: 'protectedResourceMetadata.autoDeriveScopes',
      about: 'Lists the scopes that the OpenAPI document knows.',
    },
    exchangeEnabled: {
      rule: flagRule,
      oas: 'tokenExchange.enabled',
      about: 'Swaps the token of the caller for one for the upstream.',
    },
    providers: { list: exchangeProvider, oas: 'tokenExchange.providers', about: 'Who swaps them.' },
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
  about: 'The protected-resource metadata of the API as a whole; the scheme’s own is preferred.',
  classic: null,
  oas: 'server.authentication.protectedResourceMetadata',
  fields: {
    enabled: { rule: flagRule, about: 'Serves the document.' },
    wellKnownPath: {
      rule: textRule,
      about: 'Where, below the listen path; .well-known/oauth-protected-resource when empty.',
    },
    resource: { rule: textRule, about: 'The resource it is about.' },
    authorizationServers: { rule: textListRule, about: 'Where to get a token.' },
    scopesSupported: { rule: textListRule, about: 'Scopes that make a difference.' },
  },
});
