import { facet } from '../facet.ts';
import { flagRule, textListRule, textRule } from '../rules.ts';

const oauthClientFields = {
  clientId: {
    rule: textRule,
    interpolation: 'secret',
    classic: 'client_id',
    about: 'Client id at the authorization server.',
  },
  clientSecret: {
    rule: textRule,
    interpolation: 'secret',
    secret: 'all',
    classic: 'client_secret',
    about: 'Client secret at the authorization server.',
  },
  tokenUrl: { rule: textRule, interpolation: 'secret', classic: 'token_url', about: 'URL of the token endpoint.' },
  method: {
    rule: textRule,
    about: 'Client authentication: client_secret_basic or client_secret_post.',
  },
  scopes: { rule: textListRule, about: 'Requested scopes.' },
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
    about: 'Name of the header; Authorization if empty.',
  },
  extraMetadata: {
    rule: textListRule,
    classic: 'extra_metadata',
    about: 'Members of the token response that become context variables.',
  },
} as const;

export const upstreamAuth = facet({
  name: 'upstreamAuth',
  about: 'Authentication of the gateway at the upstream.',
  classic: 'upstream_auth',
  oas: 'upstream.authentication',
  fields: {
    enabled: { rule: flagRule, about: 'Enables authentication at the upstream.' },
    basicEnabled: {
      rule: flagRule,
      classic: 'basic_auth.enabled',
      oas: 'basicAuth.enabled',
      about: 'Enables basic authentication.',
    },
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
      about: 'Sends the credentials in a header of another name.',
    },
    basicHeaderName: {
      rule: textRule,
      classic: 'basic_auth.header.name',
      oas: 'basicAuth.header.name',
      about: 'Name of the header; Authorization if empty.',
    },
    oauthEnabled: {
      rule: flagRule,
      classic: 'oauth.enabled',
      oas: 'oauth.enabled',
      about: 'Enables OAuth 2.0 access tokens.',
    },
    allowedAuthorizeTypes: {
      rule: textListRule,
      classic: 'oauth.allowed_authorize_types',
      oas: 'oauth.allowedAuthorizeTypes',
      about: 'Grant type: clientCredentials or password.',
    },
  },
});

const oauthGrantFacet = (fields: typeof oauthClientFields, grant: string) =>
  facet({
    name: grant,
    about: 'OAuth 2.0 client of the gateway for upstream access tokens.',
    classic: `upstream_auth.oauth.${grant === 'upstreamPassword' ? 'password' : 'client_credentials'}`,
    oas: `upstream.authentication.oauth.${grant === 'upstreamPassword' ? 'password' : 'clientCredentials'}`,
    fields: {
      ...fields,
      username: { rule: textRule, interpolation: 'secret', about: 'User name of the password grant.' },
      password: {
        rule: textRule,
        interpolation: 'secret',
        secret: 'all',
        about: 'Password of the password grant.',
      },
    },
  });

export const upstreamClientCredentials = oauthGrantFacet(oauthClientFields, 'upstreamClientCredentials');
export const upstreamPassword = oauthGrantFacet(oauthClientFields, 'upstreamPassword');
