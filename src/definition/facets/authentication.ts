import { z } from 'zod';
import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { negation, pairList, secondsNumber, wholeSecondsText } from '../field-codecs.ts';
import { choiceRule, flagRule, secondsRule, textListRule, textMapRule, textRule } from '../rules.ts';
import { pluginFields } from './plugins.ts';

export const authentication = facet({
  name: 'authentication',
  about: 'Authentication of clients, and the choice of the session among several auth methods.',
  classic: '',
  oas: 'server.authentication',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('use_keyless'),
      about: 'Enables authentication; without it the API is open to every client.',
    },
    stripAuthorizationData: {
      rule: flagRule,
      classic: 'strip_auth_data',
      about: 'Removes credentials from the upstream request.',
    },
    baseIdentityProvider: {
      rule: choiceRule(
        'auth_token',
        'hmac_key',
        'basic_auth_user',
        'jwt_claim',
        'oidc_user',
        'oauth_key',
        'custom_auth',
      ),
      classic: 'base_identity_provided_by',
      about: 'With several auth methods: the one that determines the session; empty for the last.',
    },
    processingMode: {
      rule: choiceRule('legacy', 'compliant'),
      classic: null,
      oas: 'securityProcessingMode',
      about: 'legacy: all schemes of the first requirement. compliant: the first requirement that is met.',
    },
    requirements: {
      rule: z.array(z.array(z.string())).default([]),
      classic: 'security_requirements',
      oas: 'security',
      about: 'Lists of scheme names; each list is one security requirement.',
    },
    sessionLifetimeEnabled: {
      rule: flagRule,
      classic: null,
      oas: 'customKeyLifetime.enabled',
      about: 'Enables the session lifetime.',
    },
    sessionLifetimeSeconds: {
      rule: secondsRule,
      classic: secondsNumber('session_lifetime'),
      oas: wholeSecondsText('customKeyLifetime.value'),
      about: 'Time in seconds for which keys are stored; 0 for the default.',
    },
    sessionLifetimeRespectsExpiry: {
      rule: flagRule,
      classic: 'session_lifetime_respects_key_expiration',
      oas: 'customKeyLifetime.respectValidity',
      about: 'Stores a key at least until it expires.',
    },
  },
  lens: { fields: ['sessionLifetimeEnabled'], derive: deriveLifetime },
});

/** The classic format has no switch: a lifetime of 0 is off. */
function deriveLifetime(values: Values, from: DefinitionFormat): Values {
  const { sessionLifetimeEnabled: on, sessionLifetimeSeconds: given } = values;
  if (from === 'oas') return { ...values, sessionLifetimeSeconds: on ? given : 0 };
  return { ...values, sessionLifetimeEnabled: Number(given) > 0 };
}

export const hmac = facet({
  name: 'hmac',
  convertsOnlyWhenEnabled: true,
  about: 'HMAC signatures of requests with a shared secret.',
  classic: '',
  oas: 'server.authentication.hmac',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_signature_checking', about: 'Enables HMAC signatures.' },
    ...authSourceFields('/auth_configs.hmac'),
    allowedAlgorithms: {
      rule: textListRule,
      classic: 'hmac_allowed_algorithms',
      about: 'Allowed algorithms, hmac-sha1 to hmac-sha512; empty for all.',
    },
    allowedClockSkewMs: {
      rule: z.number().min(-1).default(0),
      classic: 'hmac_allowed_clock_skew',
      oas: 'allowedClockSkew',
      about: 'Maximum clock skew of the Date header in milliseconds; 0 for no check.',
    },
  },
});

export const oidc = facet({
  name: 'oidc',
  convertsOnlyWhenEnabled: true,
  about: 'ID tokens of an OpenID provider.',
  classic: '',
  oas: 'server.authentication.oidc',
  fields: {
    enabled: { rule: flagRule, classic: 'use_openid', about: 'Enables OpenID Connect.' },
    ...authSourceFields('/auth_configs.oidc'),
    segregateByClientId: {
      rule: flagRule,
      classic: 'openid_options.segregate_by_client',
      about: 'Creates separate sessions for one user with several clients.',
    },
    providers: {
      list: {
        issuer: {
          rule: textRule,
          interpolation: 'secret',
          about: 'Issuer of the tokens; its discovery document is fetched.',
        },
        clientToPolicy: {
          rule: textMapRule,
          classic: {
            path: 'client_ids',
            decode: wire => mapKeys(wire, key => Buffer.from(key, 'base64').toString()),
            encode: value => mapKeys(value, key => Buffer.from(key).toString('base64')),
          },
          oas: pairList('clientToPolicyMapping', 'clientId', 'policyId'),
          about: 'Map from client id to policy id.',
        },
      },
      classic: 'openid_options.providers',
      about: 'Trusted OpenID providers.',
    },
    ...scopeFields('scopes.oidc'),
  },
});

export const custom = facet({
  name: 'custom',
  convertsOnlyWhenEnabled: true,
  about: 'Authentication by a plugin.',
  classic: '',
  oas: 'server.authentication.custom',
  fields: {
    enabled: {
      rule: flagRule,
      classic: ['custom_plugin_auth_enabled', 'use_go_plugin_auth', 'enable_coprocess_auth'],
      about: 'Enables authentication by a plugin.',
    },
    ...authSourceFields('/auth_configs.coprocess'),
    pluginEnabled: {
      rule: flagRule,
      classic: negation('custom_middleware.auth_check.disabled'),
      oas: 'config.enabled',
      requiresAnyOf: ['functionName'],
      about: pluginFields.enabled.about,
    },
    functionName: {
      rule: textRule,
      classic: 'custom_middleware.auth_check.name',
      oas: 'config.functionName',
      about: pluginFields.functionName.about,
    },
    path: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'custom_middleware.auth_check.path',
      oas: 'config.path',
      about: pluginFields.path.about,
    },
    code: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'custom_middleware.auth_check.code',
      oas: 'config.code',
      about: pluginFields.code.about,
    },
    rawBodyOnly: {
      rule: flagRule,
      classic: 'custom_middleware.auth_check.raw_body_only',
      oas: 'config.rawBodyOnly',
      about: pluginFields.rawBodyOnly.about,
    },
    requireSession: {
      rule: flagRule,
      classic: 'custom_middleware.auth_check.require_session',
      oas: 'config.requireSession',
      about: pluginFields.requireSession.about,
    },
  },
});

export const idExtractor = facet({
  name: 'idExtractor',
  about: 'Extracts the client’s id from the request, to cache the result of the plugin.',
  classic: 'custom_middleware.id_extractor',
  oas: 'server.authentication.custom.config.idExtractor',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('disabled'),
      requiresAnyOf: ['source'],
      about: 'Enables the extraction.',
    },
    source: {
      rule: textRule,
      classic: 'extract_from',
      about: 'Part of the request: header, form, body or querystring.',
    },
    with: { rule: textRule, classic: 'extract_with', about: 'Method of extraction: value, regex or xpath.' },
    headerName: {
      rule: textRule,
      classic: 'extractor_config.header_name',
      oas: 'config.headerName',
      about: 'Name of the header.',
    },
    formParamName: {
      rule: textRule,
      classic: ['extractor_config.param_name', 'extractor_config.form_param_name'],
      oas: 'config.formParamName',
      about: 'Name of the form field.',
    },
    regexp: {
      rule: textRule,
      classic: 'extractor_config.regex_expression',
      oas: 'config.regexp',
      about: 'Regular expression.',
    },
    regexpMatchIndex: {
      rule: z.int().min(0).default(0),
      classic: 'extractor_config.regex_match_index',
      oas: 'config.regexpMatchIndex',
      about: 'Index of the match.',
    },
    xPathExp: {
      rule: textRule,
      classic: 'extractor_config.xpath_expression',
      oas: 'config.xPathExp',
      about: 'XPath expression.',
    },
  },
});

/** Credential sources. The OpenAPI format has them inline, or under `AuthSources`. */
export function authSourceFields(classic: string) {
  return {
    label: { rule: textRule, classic: `${classic}.name`, oas: null, about: 'Name of the security scheme.' },
    headerEnabled: {
      rule: flagRule,
      classic: negation(`${classic}.disable_header`),
      oas: ['header.enabled', 'AuthSources.header.enabled'],
      about: 'Reads the credential from a header.',
    },
    headerName: {
      rule: textRule,
      classic: `${classic}.auth_header_name`,
      oas: ['header.name', 'AuthSources.header.name'],
      about: 'Name of the header; Authorization if empty.',
    },
    queryEnabled: {
      rule: flagRule,
      classic: `${classic}.use_param`,
      oas: ['query.enabled', 'AuthSources.query.enabled'],
      about: 'Reads the credential from a query parameter; takes precedence over the header.',
    },
    queryName: {
      rule: textRule,
      classic: `${classic}.param_name`,
      oas: ['query.name', 'AuthSources.query.name'],
      about: 'Name of the query parameter; the header name if empty.',
    },
    cookieEnabled: {
      rule: flagRule,
      classic: `${classic}.use_cookie`,
      oas: ['cookie.enabled', 'AuthSources.cookie.enabled'],
      about: 'Reads the credential from a cookie; takes precedence over header and query parameter.',
    },
    cookieName: {
      rule: textRule,
      classic: `${classic}.cookie_name`,
      oas: ['cookie.name', 'AuthSources.cookie.name'],
      about: 'Name of the cookie; the header name if empty.',
    },
  } as const;
}

/** Mapping of token scopes to policies. */
export function scopeFields(classic: string, older: { claim?: string; map?: string } = {}) {
  return {
    scopeClaimName: {
      rule: textRule,
      classic: [`${classic}.scope_claim_name`, ...(older.claim ? [older.claim] : [])],
      oas: ['scopes.claimName'],
      about: 'Name of the scope claim; scope if empty.',
    },
    scopeToPolicy: {
      rule: textMapRule,
      classic: [`${classic}.scope_to_policy`, ...(older.map ? [older.map] : [])],
      oas: pairList('scopes.scopeToPolicyMapping', 'scope', 'policyId'),
      about: 'Map from scope to policy id.',
    },
    scopeClaims: {
      rule: textListRule,
      classic: null,
      oas: 'scopes.claims',
      about: 'Names of several scope claims.',
    },
  } as const;
}

function mapKeys(map: unknown, convert: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map as object).map(([key, value]) => [convert(key), value]));
}
