import { z } from 'zod';
import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { negation, pairList, secondsNumber, wholeSecondsText } from '../field-codecs.ts';
import { choiceRule, flagRule, secondsRule, textListRule, textMapRule, textRule } from '../rules.ts';
import { pluginFields } from './plugins.ts';

export const authentication = facet({
  name: 'authentication',
  about: 'Authentication of callers, and which of several auth methods gives the session.',
  classic: '',
  oas: 'server.authentication',
  fields: {
    enabled: { rule: flagRule, classic: negation('use_keyless'), about: 'Off: anyone may call.' },
    stripAuthorizationData: {
      rule: flagRule,
      classic: 'strip_auth_data',
      about: 'Keeps credentials from the upstream.',
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
      about: 'With several auth methods: the one that gives the session; empty for the last.',
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
      about: 'Lets the lifetime below count.',
    },
    sessionLifetimeSeconds: {
      rule: secondsRule,
      classic: secondsNumber('session_lifetime'),
      oas: wholeSecondsText('customKeyLifetime.value'),
      about: 'How long keys are remembered; 0 for the default.',
    },
    sessionLifetimeRespectsExpiry: {
      rule: flagRule,
      classic: 'session_lifetime_respects_key_expiration',
      oas: 'customKeyLifetime.respectValidity',
      about: 'A key is remembered at least until it expires.',
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
  about: 'Callers sign their calls with a shared secret.',
  classic: '',
  oas: 'server.authentication.hmac',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_signature_checking', about: 'Checks signatures.' },
    ...authSourceFields('/auth_configs.hmac'),
    allowedAlgorithms: {
      rule: textListRule,
      classic: 'hmac_allowed_algorithms',
      about: 'hmac-sha1 to hmac-sha512; empty for all.',
    },
    allowedClockSkewMs: {
      rule: z.number().min(-1).default(0),
      classic: 'hmac_allowed_clock_skew',
      oas: 'allowedClockSkew',
      about: 'How far the Date of a call may be off; 0 for no check.',
    },
  },
});

export const oidc = facet({
  name: 'oidc',
  convertsOnlyWhenEnabled: true,
  about: 'Callers show an ID token of an OpenID provider.',
  classic: '',
  oas: 'server.authentication.oidc',
  fields: {
    enabled: { rule: flagRule, classic: 'use_openid', about: 'Checks ID tokens.' },
    ...authSourceFields('/auth_configs.oidc'),
    segregateByClientId: {
      rule: flagRule,
      classic: 'openid_options.segregate_by_client',
      about: 'One user through two clients has two sessions.',
    },
    providers: {
      list: {
        issuer: { rule: textRule, interpolation: 'secret', about: 'The issuer, whose discovery document is read.' },
        clientToPolicy: {
          rule: textMapRule,
          classic: {
            path: 'client_ids',
            decode: wire => mapKeys(wire, key => Buffer.from(key, 'base64').toString()),
            encode: value => mapKeys(value, key => Buffer.from(key).toString('base64')),
          },
          oas: pairList('clientToPolicyMapping', 'clientId', 'policyId'),
          about: 'Client id to the policy its callers get.',
        },
      },
      classic: 'openid_options.providers',
      about: 'The providers trusted.',
    },
    ...scopeFields('scopes.oidc'),
  },
});

export const custom = facet({
  name: 'custom',
  convertsOnlyWhenEnabled: true,
  about: 'A plugin decides who the caller is.',
  classic: '',
  oas: 'server.authentication.custom',
  fields: {
    enabled: {
      rule: flagRule,
      classic: ['custom_plugin_auth_enabled', 'use_go_plugin_auth', 'enable_coprocess_auth'],
      about: 'Asks the plugin.',
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
  about: 'Finds the caller’s id in the call, so that a plugin need not be asked each time.',
  classic: 'custom_middleware.id_extractor',
  oas: 'server.authentication.custom.config.idExtractor',
  fields: {
    enabled: { rule: flagRule, classic: negation('disabled'), requiresAnyOf: ['source'], about: 'Looks for it.' },
    source: { rule: textRule, classic: 'extract_from', about: 'header, form, body or querystring.' },
    with: { rule: textRule, classic: 'extract_with', about: 'value, regex or xpath.' },
    headerName: {
      rule: textRule,
      classic: 'extractor_config.header_name',
      oas: 'config.headerName',
      about: 'The header.',
    },
    formParamName: {
      rule: textRule,
      classic: ['extractor_config.param_name', 'extractor_config.form_param_name'],
      oas: 'config.formParamName',
      about: 'The form field.',
    },
    regexp: {
      rule: textRule,
      classic: 'extractor_config.regex_expression',
      oas: 'config.regexp',
      about: 'The expression.',
    },
    regexpMatchIndex: {
      rule: z.int().min(0).default(0),
      classic: 'extractor_config.regex_match_index',
      oas: 'config.regexpMatchIndex',
      about: 'Which of its matches.',
    },
    xPathExp: {
      rule: textRule,
      classic: 'extractor_config.xpath_expression',
      oas: 'config.xPathExp',
      about: 'The path.',
    },
  },
});

/** Credential sources. The OpenAPI format has them inline, or under `AuthSources`. */
export function authSourceFields(classic: string) {
  return {
    label: { rule: textRule, classic: `${classic}.name`, oas: null, about: 'The name of the scheme.' },
    headerEnabled: {
      rule: flagRule,
      classic: negation(`${classic}.disable_header`),
      oas: ['header.enabled', 'AuthSources.header.enabled'],
      about: 'Looks in a header.',
    },
    headerName: {
      rule: textRule,
      classic: `${classic}.auth_header_name`,
      oas: ['header.name', 'AuthSources.header.name'],
      about: 'That header; Authorization when empty.',
    },
    queryEnabled: {
      rule: flagRule,
      classic: `${classic}.use_param`,
      oas: ['query.enabled', 'AuthSources.query.enabled'],
      about: 'Looks in a query parameter, which wins over the header.',
    },
    queryName: {
      rule: textRule,
      classic: `${classic}.param_name`,
      oas: ['query.name', 'AuthSources.query.name'],
      about: 'That parameter; the header name when empty.',
    },
    cookieEnabled: {
      rule: flagRule,
      classic: `${classic}.use_cookie`,
      oas: ['cookie.enabled', 'AuthSources.cookie.enabled'],
      about: 'Looks in a cookie, which wins over both.',
    },
    cookieName: {
      rule: textRule,
      classic: `${classic}.cookie_name`,
      oas: ['cookie.name', 'AuthSources.cookie.name'],
      about: 'That cookie; the header name when empty.',
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
      about: 'The claim that lists scopes; scope when empty.',
    },
    scopeToPolicy: {
      rule: textMapRule,
      classic: [`${classic}.scope_to_policy`, ...(older.map ? [older.map] : [])],
      oas: pairList('scopes.scopeToPolicyMapping', 'scope', 'policyId'),
      about: 'Scope to the policy it gives.',
    },
    scopeClaims: {
      rule: textListRule,
      classic: null,
      oas: 'scopes.claims',
      about: 'Several claims that may list scopes.',
    },
  } as const;
}

function mapKeys(map: unknown, convert: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map as object).map(([key, value]) => [convert(key), value]));
}
