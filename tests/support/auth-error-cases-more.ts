import type { JsonObject } from '#base/json-tree.ts';
import {
  authorization,
  base64,
  bearer,
  disallowed,
  failure,
  keyOf,
  nowSeconds,
  policyOf,
  type RefusedRow,
  type RowGround,
  rightsTo,
  rsa,
  says,
  source,
  write,
} from './auth-error-cases.ts';
import { makeAuthority, makeClientCertificate } from './certificates.ts';
import { jwkOf, mint, rsaPair } from './tokens.ts';

/** The rest of them: tokens of others, certificates, and what keys may do. */
const openId =
  (policy: JsonObject = {}) =>
  async (at: RowGround) => {
    const { url, pages } = at.publisher;
    pages['/.well-known/openid-configuration'] = { issuer: url, jwks_uri: `${url}/oidc-keys` };
    pages['/oidc-keys'] = { keys: [jwkOf(rsa.publicKey, { kid: 'a' })] };
    const client_ids = { [base64('app')]: await policyOf(at, policy) };
    return { use_openid: true, openid_options: { providers: [{ issuer: url, client_ids }] } };
  };
const idToken =
  (claims: JsonObject = {}, key = rsa.privateKey) =>
  ({ publisher }: RowGround) => {
    const usual = { iss: publisher.url, aud: 'app', sub: 'ann', exp: nowSeconds() + 600 };
    return authorization(`Bearer ${mint({ ...usual, ...claims }, key, { header: { kid: 'a' } })}`);
  };
const openIdRows = (
  [
    ['no ID token is sent', undefined],
    ['an ID token is none', says('Bearer abc')],
    ['an ID token is signed with another key', idToken({}, rsaPair().privateKey)],
    ['an ID token has an issuer that is not configured', idToken({ iss: 'https://other.example' })],
    ['an ID token is for another client', idToken({ aud: 'other' })],
    ['an ID token is past', idToken({ exp: nowSeconds() - 600 })],
  ] as const
).map(([when, sends]) => ({
  ...failure,
  when,
  definition: openId(),
  ...(sends && { sends }),
  status: 401,
  message: 'Key not authorised',
}));

const external = (...providers: JsonObject[]) => ({ external_oauth: { enabled: true, providers } });
const signed = external({ jwt: { enabled: true, signing_method: 'rsa', source } });
const introspectWith =
  (answer: unknown, path = '/introspect') =>
  ({ publisher }: RowGround) => {
    publisher.pages[path] = answer;
    return external({
      introspection: { enabled: true, url: publisher.url + path, client_id: 'a', client_secret: 'b' },
    });
  };
const unchecked = 'error happened during the access token validation';
const externalRows: RefusedRow[] = [
  {
    when: 'no token of another server is sent',
    definition: signed,
    status: 400,
    message: 'authorization field missing',
  },
  {
    when: 'no other server is named',
    definition: external(),
    sends: says('Bearer x'),
    status: 404,
    message: 'there should be at least one provider configured',
  },
  {
    when: 'it is not said how tokens of others are checked',
    definition: external({}),
    sends: says('Bearer x'),
    status: 500,
    message: 'access token validation method is not specified',
  },
  {
    when: 'a token of another server is signed with another key',
    definition: signed,
    sends: bearer({ sub: 'ann' }, {}, rsaPair().privateKey),
    status: 401,
    message: 'token verification failed: signature is invalid',
  },
  {
    when: 'a token of another server is past',
    definition: signed,
    sends: bearer({ sub: 'ann', exp: nowSeconds() - 600 }),
    status: 401,
    message: 'key not authorized: token has expired',
  },
  {
    when: 'a token of another server has no user claim',
    definition: signed,
    sends: bearer({}),
    status: 500,
    message: unchecked,
  },
  ...(
    [
      ['is no JSON', 'nonsense'],
      ['says "true" where it should say true', { active: 'true', sub: 'ann' }],
      ['is too large', { active: true, sub: 'ann', pad: 'x'.repeat(70_000) }],
      ['is that it has none', undefined],
    ] as const
  ).map(([what, answer], at) => ({
    when: `what the other server answers ${what}`,
    definition: introspectWith(answer, `/odd-${at}`),
    sends: says('Bearer opaque'),
    status: 500,
    message: unchecked,
  })),
  {
    when: 'the other server no longer stands by a token',
    definition: introspectWith({ active: false }, '/inactive'),
    sends: says('Bearer opaque'),
    status: 401,
    message: 'access token is not valid',
  },
  {
    when: 'the other server stands by a token that is past',
    definition: introspectWith({ active: true, sub: 'ann', exp: nowSeconds() - 600 }, '/past'),
    sends: says('Bearer opaque'),
    status: 401,
    message: 'key not authorized: token has expired',
  },
];

const versioned = {
  version_data: { not_versioned: false, versions: { v1: { name: 'v1' }, v2: { name: 'v2' } } },
  definition: { location: 'header', key: 'x-version' },
};
const rightsRows: RefusedRow[] = [
  {
    when: 'a key is inactive',
    definition: {},
    sends: async at => authorization(await keyOf(at, { is_inactive: true })),
    status: 403,
    message: 'Key is inactive, please renew',
    event: 'KeyExpired',
  },
  {
    when: 'a key has expired',
    definition: {},
    sends: async at => authorization(await keyOf(at, { expires: 1 })),
    status: 401,
    message: 'Key has expired, please renew',
    event: 'KeyExpired',
  },
  {
    when: 'a key is for another API',
    definition: {},
    sends: async at => authorization(await keyOf(at, { access_rights: rightsTo('another') })),
    status: 403,
    message: disallowed,
  },
  {
    when: 'a key is for another version',
    definition: versioned,
    async sends(at) {
      const key = await keyOf(at, { access_rights: rightsTo(at.apiId, { versions: ['v1'] }) });
      return { headers: { Authorization: key, 'x-version': 'v2' } };
    },
    status: 403,
    message: disallowed,
  },
  {
    when: 'a key is for other paths',
    definition: {},
    async sends(at) {
      const allowed_urls = [{ url: '/thing', methods: ['POST'] }];
      return authorization(await keyOf(at, { access_rights: rightsTo(at.apiId, { allowed_urls }) }));
    },
    status: 403,
    message: 'Access to this resource has been disallowed',
  },
  {
    when: 'none of several ways in says who calls',
    definition: {
      use_standard_auth: true,
      use_basic_auth: true,
      base_identity_provided_by: 'hmac_key',
      auth_configs: { authToken: { auth_header_name: 'x-key' } },
    },
    async sends(at) {
      const user = `user-${at.apiId}`;
      await write(at, `/gw/keys/${user}`, {
        access_rights: rightsTo(at.apiId),
        basic_auth_data: { password: 'right' },
      });
      return { headers: { 'x-key': await keyOf(at), Authorization: `Basic ${base64(`${user}:right`)}` } };
    },
    status: 400,
    message: 'Session state is missing or unset! Please make sure that auth headers are properly applied',
  },
  {
    when: 'certificates are asked for, and the call is not secured',
    async definition(at) {
      const { certPem } = makeClientCertificate(makeAuthority());
      return { use_mutual_tls_auth: true, client_certificates: [(await write(at, '/api/certs', certPem)).id] };
    },
    status: 403,
    message: 'TLS not enabled',
  },
  {
    when: 'a key stands for a certificate, and the call is not secured',
    definition: { auth_configs: { authToken: { use_certificate: true } } },
    sends: says('nobody-has-this'),
    status: 401,
    message: 'Client certificate required',
  },
];

export const moreRefusedRows: readonly RefusedRow[] = [
  ...openIdRows,
  {
    when: 'the policy of the client of an ID token cannot be applied',
    definition: openId({ partitions: { quota: true } }),
    sends: idToken(),
    status: 403,
    message: 'Key not authorized: could not apply new policy',
  },
  ...externalRows,
  ...rightsRows,
];
