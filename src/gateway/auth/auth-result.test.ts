import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { formatKeyId } from '#access/keys/ids.ts';
import { createPublicId } from '#base/ids.ts';
import { type Bench, openBench, orgId, startMs } from '../../../tests/support/step-harness.ts';
import { jwkOf, mint, type Publisher, pemOf, rsaPair, startPublisher } from '../../../tests/support/tokens.ts';

const rsa = rsaPair();
const base64 = (text: string) => Buffer.from(text).toString('base64');
const access_rights = { bench: { versions: ['Default'] } };
const exp = startMs / 1000 + 600;

/** What a definition calls each way in, the header its credential is sent in, and the way itself. */
const ways = [
  ['oauth_key', 'X-Oauth', 'oauth'],
  ['basic_auth_user', 'Authorization', 'basic'],
  ['hmac_key', 'X-Signed', 'hmac'],
  ['jwt_claim', 'X-Jwt', 'jwt'],
  ['oidc_user', 'X-Id', 'oidc'],
  ['auth_token', 'X-Key', 'token'],
] as const;

describe('several auth methods', () => {
  let bench: Bench;
  let publisher: Publisher;
  let headers: Record<string, string>;
  before(async () => {
    [bench, publisher] = await Promise.all([openBench(), startPublisher()]);
    publisher.pages['/.well-known/openid-configuration'] = { issuer: publisher.url, jwks_uri: `${publisher.url}/keys` };
    publisher.pages['/keys'] = { keys: [jwkOf(rsa.publicKey, { kid: 'a' })] };
    await bench.policy({ id: 'given', access_rights });
    headers = await credentials();
  });
  after(async () => {
    await bench.close();
    await publisher.close();
  });

  async function credentials(): Promise<Record<string, string>> {
    const access = formatKeyId(orgId, createPublicId());
    const client = { id: 'shop', org_id: orgId, api_id: 'bench', client_id: 'shop', secret: 's', redirect_uri: '' };
    const rest = { policy_id: '', description: '', client_name: '', meta_data: {}, created_at: '2030-01-01T00:00:00Z' };
    await bench.oauthClients.insert({ ...client, ...rest });
    const grant = { orgId, apiId: 'bench', clientId: 'shop', grantId: createPublicId(), owner: '', scope: '' };
    const issued = { kind: 'access' as const, token: access, expiresAtMs: exp * 1000, key: { access_rights } };
    await bench.oauthTokens.insert(grant, [issued], startMs);
    await bench.key(
      { access_rights, basic_auth_data: { password: 'word', hash_type: '' } },
      { name: 'ann', kind: 'basic' },
    );
    const signer = await bench.key({ access_rights, hmac_enabled: true, hmac_string: 'secret' });
    const date = new Date(startMs).toUTCString();
    const signature = encodeURIComponent(createHmac('sha256', 'secret').update(`date: ${date}`).digest('base64'));
    const idToken = { iss: publisher.url, aud: 'app', sub: 'ann', exp };
    return {
      Date: date,
      'X-Oauth': `Bearer ${access}`,
      Authorization: `Basic ${base64('ann:word')}`,
      'X-Signed': `Signature keyId="${signer}",algorithm="hmac-sha256",signature="${signature}"`,
      'X-Jwt': `Bearer ${mint({ sub: 'ann', exp }, rsa.privateKey)}`,
      'X-Id': `Bearer ${mint(idToken, rsa.privateKey, { header: { kid: 'a' } })}`,
      'X-Key': await bench.key({ access_rights }),
    };
  }

  const compile = (base_identity_provided_by: string) =>
    bench.compile({
      use_oauth2: true,
      use_basic_auth: true,
      enable_signature_checking: true,
      enable_jwt: true,
      jwt_signing_method: 'rsa',
      jwt_source: base64(pemOf(rsa.publicKey)),
      jwt_default_policies: ['given'],
      use_openid: true,
      openid_options: { providers: [{ issuer: publisher.url, client_ids: { [base64('app')]: 'given' } }] },
      use_standard_auth: true,
      base_identity_provided_by,
      auth_configs: {
        oauth: { auth_header_name: 'X-Oauth' },
        hmac: { auth_header_name: 'X-Signed' },
        jwt: { auth_header_name: 'X-Jwt' },
        oidc: { auth_header_name: 'X-Id' },
        authToken: { auth_header_name: 'X-Key' },
      },
    });

  for (const [name, header, mode] of ways)
    test(`${name} sets the session as base provider, and is required otherwise`, async () => {
      const { status, body, call } = await bench.send(await compile(name), { headers });
      assert.deepEqual([status, body, call.authMethod], [0, '', mode]);
      const { [header]: _, ...without } = headers;
      for (const other of ['', ...ways.map(([it]) => it)]) {
        const refused = await bench.send(await compile(other), { headers: without });
        assert.ok([400, 401].includes(refused.status), `${other}: ${refused.status}`);
      }
    });

  test('without a base provider the last method sets the session', async () => {
    assert.equal((await bench.send(await compile(''), { headers })).call.authMethod, 'token');
  });
});
