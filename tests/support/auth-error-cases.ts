import assert from 'node:assert/strict';
import { createHmac, sign } from 'node:crypto';
import { createPublicId } from '#base/ids.ts';
import type { JsonObject } from '#base/json-tree.ts';
import type { TestApp } from './app.ts';
import { makeCertificate } from './certificates.ts';
import { jwkOf, mint, type Publisher, pemOf, rsaPair } from './tokens.ts';
import { waitUntilApplied } from './traffic.ts';

/** Every authentication refusal, with a request that triggers it and its response. */
export interface RefusedRow {
  readonly when: string;
  readonly definition: JsonObject | ((at: RowGround) => JsonObject | Promise<JsonObject>);
  readonly sends?: (at: RowGround) => RequestInit | Promise<RequestInit>;
  readonly status: number;
  readonly message: string;
  readonly event?: 'AuthFailure' | 'KeyExpired';
  /** The caller is invited to sign in. */
  readonly invited?: true;
}

/** Fixtures of a row: the product, a publisher, and the id of its API. */
export interface RowGround {
  readonly app: TestApp;
  readonly publisher: Publisher;
  readonly apiId: string;
  readonly listenPath: string;
}

async function write({ app }: RowGround, path: string, body: unknown, method = 'POST') {
  const reply = await app.ask(method, path, { body });
  assert.equal(reply.status, 200, reply.text);
  await waitUntilApplied(app);
  return reply.body;
}
const rightsTo = (apiId: string, more: JsonObject = {}): JsonObject => ({
  [apiId]: { versions: ['Default'], ...more },
});
const keyOf = async (at: RowGround, more: JsonObject = {}): Promise<string> =>
  (await write(at, '/gw/keys', { access_rights: rightsTo(at.apiId), ...more })).key;
const policyOf = async (at: RowGround, more: JsonObject = {}): Promise<string> => {
  const policy = { name: createPublicId(), id: createPublicId(), state: 'active', access_rights: rightsTo(at.apiId) };
  return (await write(at, '/api/portal/policies', { ...policy, ...more })).Message;
};
const authorization = (Authorization: string): RequestInit => ({ headers: { Authorization } });
const says = (text: string) => () => authorization(text);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const nowSeconds = () => Math.floor(Date.now() / 1000);

const disallowed = 'Access to this API has been disallowed';
const failure = { event: 'AuthFailure' } as const;

const signature = { algorithm: 'MasherySHA256', header: 'X-Signature', secret: 'shared', allowed_clock_skew: 2 };
const signing = (more: JsonObject = {}) => ({
  auth_configs: { authToken: { validate_signature: true, signature: { ...signature, ...more } } },
});
const withKey = async (at: RowGround) => authorization(await keyOf(at));

const token: RefusedRow[] = [
  { when: 'no key is sent', definition: {}, status: 401, message: 'Authorization field missing' },
  ...[
    ['the key does not exist', 'nobody-has-this'],
    ['the key is too short', 'ab'],
    ['the key is too long', 'x'.repeat(5000)],
  ].map(([when, text]) => ({
    ...failure,
    when: when!,
    definition: {},
    sends: says(text!),
    status: 403,
    message: disallowed,
  })),
  {
    when: 'the signature beside the key is missing',
    definition: signing(),
    sends: withKey,
    status: 401,
    message: 'Request signature verification failed',
  },
  {
    when: 'it is missing, and the definition has words for that',
    definition: signing({ error_code: 418, error_message: 'sign it' }),
    sends: withKey,
    status: 418,
    message: 'sign it',
  },
  {
    when: 'the signature algorithm is unknown',
    definition: signing({ algorithm: 'Unknown' }),
    sends: withKey,
    status: 500,
    message: 'internal server error',
  },
];

const oauthApi = { use_oauth2: true, oauth_meta: { allowed_access_types: ['client_credentials'] } };
const oauth: RefusedRow[] = [
  { when: 'no access token is sent', definition: oauthApi, status: 400, message: 'Authorization field missing' },
  {
    when: 'the access token is one word',
    definition: oauthApi,
    sends: says('abc'),
    status: 400,
    message: 'Authorization field missing',
  },
  {
    when: 'the access token comes with another scheme',
    definition: oauthApi,
    sends: says('Basic abc'),
    status: 400,
    message: 'Bearer token malformed',
  },
  {
    ...failure,
    when: 'the access token does not exist',
    definition: oauthApi,
    sends: says('Bearer abc'),
    status: 403,
    message: 'Key not authorised',
  },
  {
    when: 'the client of the access token is gone',
    definition: oauthApi,
    async sends(at) {
      const body = { redirect_uri: 'https://app.example/', policy_id: await policyOf(at) };
      const { client_id, secret } = await write(at, `/api/apis/oauth/${at.apiId}`, body);
      const reply = await fetch(`${at.app.url.gateway}${at.listenPath}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
        ...authorization(`Basic ${base64(`${client_id}:${secret}`)}`),
      });
      const { access_token } = (await reply.json()) as { access_token: string };
      await write(at, `/api/apis/oauth/${at.apiId}/${client_id}`, undefined, 'DELETE');
      return authorization(`Bearer ${access_token}`);
    },
    status: 403,
    message: 'Key not authorised. OAuth client access was revoked',
  },
];

const basicApi = { use_basic_auth: true };
const malformed = 'Attempted access with malformed header, ';
const fromBody = (user: string, password: string) => ({
  use_basic_auth: true,
  basic_auth: { extract_from_body: true, body_user_regexp: user, body_password_regexp: password },
});
const posts = (body: string) => () => ({ method: 'POST', body });
const basic: RefusedRow[] = [
  {
    when: 'no user is named',
    definition: basicApi,
    status: 401,
    message: 'Authorization field missing',
    invited: true,
  },
  ...(
    [
      ['abc', 'header not in basic auth format'],
      ['Basic a!b', 'auth data not encoded correctly'],
      [`Basic ${base64('ann')}`, 'values not in basic auth format'],
    ] as const
  ).map(([text, why]) => ({
    when: why,
    definition: basicApi,
    sends: says(text),
    status: 400,
    message: malformed + why,
  })),
  ...(
    [
      ['u=(\\w+)', 'p=(\\w+)', 'p=x', 'Body do not contain username'],
      ['u=\\w+', 'p=(\\w+)', 'u=x&p=x', 'username should be inside regexp match group'],
      ['u=(\\w+)', 'p=(\\w+)', 'u=x', 'Body do not contain password'],
      ['u=(\\w+)', 'p=\\w+', 'u=x&p=x', 'password should be inside regexp match group'],
    ] as const
  ).map(([user, password, body, message]) => ({
    when: message,
    definition: fromBody(user, password),
    sends: posts(body),
    status: 400,
    message,
  })),
  {
    ...failure,
    when: 'the user name does not exist',
    definition: basicApi,
    sends: says(`Basic ${base64('nobody-at-all:word')}`),
    status: 401,
    message: 'User not authorised',
    invited: true,
  },
  {
    ...failure,
    when: 'the password is wrong',
    definition: basicApi,
    async sends(at) {
      const user = createPublicId();
      const body = { access_rights: rightsTo(at.apiId), basic_auth_data: { password: 'right' } };
      await write(at, `/gw/keys/${user}`, body);
      return authorization(`Basic ${base64(`${user}:wrong`)}`);
    },
    status: 401,
    message: 'User not authorised',
    invited: true,
  },
];

const hmacApi = { enable_signature_checking: true, hmac_allowed_clock_skew: 5000 };
interface Signing {
  key?: JsonObject;
  algorithm?: string;
  agoMs?: number;
  secret?: string;
  rsaKey?: string;
}
const signs =
  ({ key = {}, algorithm = 'hmac-sha256', agoMs = 0, secret = 'secret', rsaKey }: Signing) =>
  async (at: RowGround): Promise<RequestInit> => {
    const keyId = await keyOf(at, { hmac_enabled: true, hmac_string: 'secret', ...key });
    const date = new Date(Date.now() - agoMs).toUTCString();
    const text = `date: ${date}`;
    const made = rsaKey
      ? sign('sha256', Buffer.from(text), rsaKey).toString('base64')
      : encodeURIComponent(createHmac(algorithm.slice(5), secret).update(text).digest('base64'));
    const Authorization = `Signature keyId="${keyId}",algorithm="${algorithm}",signature="${made}"`;
    return { headers: { Date: date, Authorization } };
  };
const refusedSignature = { ...failure, status: 400, message: 'Authorization field missing, malformed or invalid' };
const curve = makeCertificate({ cn: 'curve', keyType: 'ec' });
const signWithCertificate = (id: string): Signing => ({
  key: { enable_http_signature_validation: true, rsa_certificate_id: id },
  algorithm: 'rsa-sha256',
  rsaKey: curve.keyPem,
});
const hmac: RefusedRow[] = [
  { ...refusedSignature, when: 'a call is not signed', definition: hmacApi },
  {
    ...refusedSignature,
    when: 'a call is signed with another secret',
    definition: hmacApi,
    sends: signs({ secret: 'x' }),
  },
  {
    ...refusedSignature,
    when: 'a call was signed too long ago',
    definition: hmacApi,
    sends: signs({ agoMs: 60_000 }),
  },
  {
    ...refusedSignature,
    when: 'a call is signed in a way that is not allowed',
    definition: { ...hmacApi, hmac_allowed_algorithms: ['hmac-sha512'] },
    sends: signs({}),
  },
  {
    when: 'the certificate of a signature is not in the store',
    definition: hmacApi,
    async sends(at) {
      const { id } = await write(at, '/api/certs', makeCertificate({ cn: 'lost' }).certPem);
      const signed = await signs(signWithCertificate(id))(at);
      await write(at, `/api/certs/${id}`, undefined, 'DELETE');
      return signed;
    },
    status: 500,
    message: 'Certificate not found',
  },
  {
    when: 'the certificate of a signature is of another kind',
    definition: hmacApi,
    sends: async at => signs(signWithCertificate((await write(at, '/api/certs', curve.certPem)).id))(at),
    status: 500,
    message: "Certificate doesn't contain RSA Public key",
  },
];

export const rsa = rsaPair();
export const source = base64(pemOf(rsa.publicKey));
const bearer = (
  claims: JsonObject,
  more: Parameters<typeof mint>[2] = {},
  key: Parameters<typeof mint>[1] = rsa.privateKey,
) => says(`Bearer ${mint(claims, key, more)}`);
const jwtApi = (more: JsonObject = {}) => ({
  enable_jwt: true,
  jwt_signing_method: 'rsa',
  jwt_source: source,
  ...more,
});
const byKeySet = ({ publisher }: RowGround) => {
  publisher.pages['/keys'] = { keys: [jwkOf(rsa.publicKey, { kid: 'known' })] };
  return jwtApi({ jwt_source: `${publisher.url}/keys` });
};
const jwtRow = (when: string, sends: RefusedRow['sends'], message: string, definition: RefusedRow['definition']) => ({
  ...failure,
  when,
  definition,
  sends: sends!,
  status: 403,
  message,
});
const ann = { sub: 'ann' };
const noPolicy = 'key not authorized: no matching policy';
/** One that opens nothing cannot be applied alone, and one for each API not beside one of parts. */
const parts = { partitions: { quota: true } };
const eachApi = { partitions: { per_api: true } };
const createScopedApi = async (at: RowGround) =>
  jwtApi({ scopes: { jwt: { scope_to_policy: { a: await policyOf(at, parts), b: await policyOf(at, eachApi) } } } });

const jwt: RefusedRow[] = [
  {
    ...failure,
    when: 'no signed token is sent',
    definition: jwtApi(),
    status: 400,
    message: 'Authorization field missing',
  },
  jwtRow('a token is none', says('Bearer abc'), 'Key not authorized', jwtApi()),
  jwtRow('a token is signed with another key', bearer(ann, {}, rsaPair().privateKey), 'Key not authorized', jwtApi()),
  jwtRow('the kid of a token is unknown', bearer(ann, { header: { kid: '../x' } }), 'Key not authorized', byKeySet),
  jwtRow('a token is too long', bearer({ ...ann, pad: 'x'.repeat(12_500) }), 'Key not authorized', jwtApi()),
  ...(['none', 'HS256'] as const).map(alg =>
    jwtRow(
      `a token is signed by ${alg}`,
      bearer(ann, { alg }, pemOf(rsa.publicKey)),
      'Key not authorized: Unexpected signing method',
      jwtApi(),
    ),
  ),
  ...(
    [
      ['exp', -10, 'token has expired'],
      ['iat', 60, 'token used before issued'],
      ['nbf', 60, 'token is not valid yet'],
    ] as const
  ).map(([claim, seconds, why]) => ({
    when: why,
    definition: jwtApi(),
    sends: bearer({ ...ann, [claim]: nowSeconds() + seconds * 60 }),
    status: 401,
    message: `Key not authorized: ${why}`,
  })),
  jwtRow('a token has no user claim', bearer({}), 'no suitable claims for user ID were found', jwtApi()),
  jwtRow('a token has an empty sub', bearer({ sub: '' }), 'found an empty user ID in sub claim', jwtApi()),
  jwtRow(
    'a token lacks the configured identity claim',
    bearer({ mail: '' }),
    'found an empty user ID in predefined base claim, claim: mail',
    jwtApi({ jwt_identity_base_field: 'mail' }),
  ),
  jwtRow('no policy is named', bearer(ann), `${noPolicy} found`, jwtApi()),
  jwtRow(
    'the policy of a token does not exist',
    bearer({ ...ann, pol: 'none' }),
    noPolicy,
    jwtApi({ jwt_policy_field_name: 'pol' }),
  ),
  jwtRow(
    'no scope stands for a policy',
    bearer({ ...ann, scope: 'x' }),
    `${noPolicy} found in scope claim`,
    createScopedApi,
  ),
  jwtRow(
    'there is neither scope nor policy',
    bearer(ann),
    'key not authorized: no scope or policy in token',
    createScopedApi,
  ),
  jwtRow(
    'the policy cannot be applied',
    bearer({ ...ann, scope: 'a' }),
    'key not authorized: could not apply new policy',
    createScopedApi,
  ),
  jwtRow(
    'the policies cannot be applied together',
    bearer({ ...ann, scope: 'a b' }),
    'key not authorized: could not apply several policies',
    createScopedApi,
  ),
];

export const refusedRows: readonly RefusedRow[] = [...token, ...oauth, ...basic, ...hmac, ...jwt];
export { authorization, base64, bearer, disallowed, failure, keyOf, nowSeconds, policyOf, rightsTo, says, write };
