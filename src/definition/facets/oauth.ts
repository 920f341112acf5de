import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { countRule, flagRule, skewSecondsRule, textListRule, textRule } from '../rules.ts';
import { authSourceFields } from './authentication.ts';

export const oauth = facet({
  name: 'oauth',
  convertsOnlyWhenEnabled: true,
  about: 'OAuth 2.0 access tokens issued by the gateway.',
  classic: '',
  oas: '@oauth',
  fields: {
    enabled: { rule: flagRule, classic: 'use_oauth2', about: 'Enables the OAuth 2.0 provider and its access tokens.' },
    ...authSourceFields('auth_configs.oauth'),
    allowedAuthorizeTypes: {
      rule: textListRule,
      classic: 'oauth_meta.allowed_authorize_types',
      about: 'Allowed response types: code or token.',
    },
    allowedAccessTypes: {
      rule: textListRule,
      classic: 'oauth_meta.allowed_access_types',
      about: 'Allowed grant types; if empty, those of the flows of the component.',
    },
    refreshToken: { rule: flagRule, classic: null, about: 'Issues refresh tokens.' },
    authLoginRedirect: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'oauth_meta.auth_login_redirect',
      about: 'URL of the login page of the authorization endpoint.',
    },
    notifySecret: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      classic: 'notifications.shared_secret',
      oas: 'notifications.sharedSecret',
      about: 'Secret sent with notifications of new tokens.',
    },
    notifyUrl: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'notifications.oauth_on_keychange_url',
      oas: 'notifications.onKeyChangeUrl',
      about: 'URL of notifications of new tokens.',
    },
  },
  lens: { fields: ['refreshToken'], derive: deriveGrants },
});

/** The classic format has the refresh token among the grants. */
function deriveGrants(values: Values, from: DefinitionFormat): Values {
  const grants = values.allowedAccessTypes as string[];
  if (from === 'classic') return { ...values, refreshToken: grants.includes('refresh_token') };
  if (values.refreshToken !== true || grants.includes('refresh_token')) return values;
  return { ...values, allowedAccessTypes: [...grants, 'refresh_token'] };
}

const jwtPaths = (name: string, classic: string, oas = name) => ({ classic: `jwt.${classic}`, oas: `jwt.${oas}` });
const introspectionPaths = (classic: string, oas: string) => ({
  classic: `introspection.${classic}`,
  oas: `introspection.${oas}`,
});

export const externalOAuth = facet({
  name: 'externalOAuth',
  convertsOnlyWhenEnabled: true,
  about: 'Access tokens of an external authorization server.',
  classic: 'external_oauth',
  oas: '@externalOAuth',
  fields: {
    enabled: { rule: flagRule, about: 'Enables access tokens of an external server.' },
    ...authSourceFields('/auth_configs.externalOAuth'),
    providers: {
      list: {
        jwtEnabled: {
          rule: flagRule,
          ...jwtPaths('enabled', 'enabled'),
          about: 'Validates tokens as JSON Web Tokens.',
        },
        signingMethod: {
          rule: textRule,
          ...jwtPaths('signingMethod', 'signing_method'),
          about: 'Signing method: hmac, rsa or ecdsa.',
        },
        source: {
          rule: textRule,
          interpolation: 'secret',
          secret: 'all',
          ...jwtPaths('source', 'source'),
          about: 'Key, or URL of a key set.',
        },
        identityBaseField: {
          rule: textRule,
          ...jwtPaths('identityBaseField', 'identity_base_field'),
          about: 'Name of the claim that identifies the client.',
        },
        issuedAtSkewSeconds: {
          rule: skewSecondsRule,
          ...jwtPaths('issuedAtValidationSkew', 'issued_at_validation_skew'),
          about: 'Maximum clock skew of the time of issue (iat), in seconds.',
        },
        notBeforeSkewSeconds: {
          rule: skewSecondsRule,
          ...jwtPaths('notBeforeValidationSkew', 'not_before_validation_skew'),
          about: 'Maximum clock skew of the start of validity (nbf), in seconds.',
        },
        expiresAtSkewSeconds: {
          rule: skewSecondsRule,
          ...jwtPaths('expiresAtValidationSkew', 'expires_at_validation_skew'),
          about: 'Maximum clock skew of the expiry (exp), in seconds.',
        },
        introspectionEnabled: {
          rule: flagRule,
          ...introspectionPaths('enabled', 'enabled'),
          about: 'Enables token introspection.',
        },
        url: {
          rule: textRule,
          interpolation: 'secret',
          ...introspectionPaths('url', 'url'),
          about: 'URL of the introspection endpoint.',
        },
        clientId: {
          rule: textRule,
          interpolation: 'secret',
          ...introspectionPaths('client_id', 'clientId'),
          about: 'Client id of the gateway at the introspection endpoint.',
        },
        clientSecret: {
          rule: textRule,
          interpolation: 'secret',
          secret: 'all',
          ...introspectionPaths('client_secret', 'clientSecret'),
          about: 'Client secret of the gateway at the introspection endpoint.',
        },
        introspectionIdentityField: {
          rule: textRule,
          ...introspectionPaths('identity_base_field', 'identityBaseField'),
          about: 'Member of the introspection response that identifies the client.',
        },
        cacheEnabled: {
          rule: flagRule,
          ...introspectionPaths('cache.enabled', 'cache.enabled'),
          about: 'Caches introspection responses.',
        },
        cacheSeconds: {
          rule: countRule,
          ...introspectionPaths('cache.timeout', 'cache.timeout'),
          about: 'Time in seconds for which introspection responses are cached; 0 for ever.',
        },
      },
      about: 'Authorization servers; only the first is used.',
    },
  },
});
