import assert from 'node:assert/strict';
import { createHmac, createPublicKey, verify } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { makeCertificate } from './support/certificates.ts';
import { findUnavailableReason, waitUntilApplied } from './support/traffic.ts';
import { eventually, type Received, startUpstream, type Upstream } from './support/upstream.ts';

const errorBody = (message: string) => `{\n    "error": ${JSON.stringify(message)}\n}`;

describe('Upstream authentication', () => {
  let app: TestApp;
  let upstream: Upstream;
  let issuer: Upstream;
  const lines: string[] = [];

  before(async () => {
    [app, upstream, issuer] = await Promise.all([
      startApp('sqlite', { onLog: line => lines.push(line) }),
      startUpstream(),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    await issuer?.close();
  });
  beforeEach(() => {
    for (const it of [upstream, issuer]) {
      it.answer = undefined;
      it.requests.length = 0;
    }
  });

  const got = async (url: string, init: RequestInit = {}) => {
    const reply = await fetch(url, init);
    return { status: reply.status, text: await reply.text() };
  };

  describe('Request signing', () => {
    const rsa = makeCertificate({ cn: 'Signer', keyType: 'rsa' });
    const elliptic = makeCertificate({ cn: 'Other signer', keyType: 'ec' });
    const secret = 'canary-of-signing';
    const createSigning = (more: Signing, base = ''): BothFormats => ({
      classic: {
        hmac_allowed_algorithms: more.allowed ?? [],
        proxy: { target_url: upstream.url + base },
        request_signing: {
          is_enabled: true,
          secret: more.secret ?? '',
          key_id: more.keyId ?? 'my-key',
          algorithm: more.algorithm ?? '',
          header_list: more.headers ?? [],
          certificate_id: more.certificateId ?? '',
          signature_header: more.header ?? '',
        },
      },
      oas: {
        upstream: {
          url: upstream.url + base,
          authentication: {
            enabled: true,
            requestSigning: {
              enabled: true,
              secret: more.secret ?? '',
              keyId: more.keyId ?? 'my-key',
              algorithm: more.algorithm ?? '',
              headers: more.headers ?? [],
              certificateId: more.certificateId ?? '',
              signatureHeader: more.header ?? '',
            },
          },
        },
      },
    });
    interface Signing {
      secret?: string;
      keyId?: string;
      algorithm?: string;
      headers?: string[];
      certificateId?: string;
      header?: string;
      allowed?: string[];
    }
    const upload = async (pem: string): Promise<string> => (await app.ask('POST', '/api/certs', { body: pem })).body.id;

    /** What an upstream does that checks a signature: it trusts nothing but what it received. */
    function read(received: Received, header = 'authorization') {
      const written = String(received.headers[header]);
      const [, keyId, algorithm, headers, signature] =
        /^Signature keyId="([^"]*)",algorithm="([^"]*)",headers="([^"]*)",signature="([^"]*)"$/.exec(written) ?? [];
      assert.ok(headers && signature, written);
      const lines = headers.split(' ').map(name => {
        if (name === '(request-target)') return `${name}: ${received.method.toLowerCase()} ${received.url}`;
        return `${name}: ${received.headers[name]}`;
      });
      return { keyId, algorithm, headers: headers.split(' '), signature, text: lines.join('\n') };
    }

    for (const hash of ['sha1', 'sha256', 'sha384', 'sha512'])
      test(`hmac-${hash} with a shared secret signs all headers and the request target as sent`, async () => {
        for (const { url } of await publishBoth(
          app,
          upstream,
          createSigning({ secret, algorithm: `hmac-${hash}` }, '/base'),
        )) {
          await got(`${url}/a/b?c=d`, {
            method: 'POST',
            body: 'x',
            headers: { 'x-own': 'Yes', authorization: 'Mine' },
          });
          const received = upstream.requests.at(-1)!;
          assert.equal(received.url, '/base/a/b?c=d');
          const { keyId, algorithm, headers, signature, text } = read(received);
          assert.deepEqual([keyId, algorithm], ['my-key', `hmac-${hash}`]);
          assert.equal(headers[0], '(request-target)');
          for (const name of ['date', 'host', 'x-own', 'content-length']) assert.ok(headers.includes(name), name);
          assert.ok(!headers.includes('authorization'));
          assert.equal(decodeURIComponent(signature), createHmac(hash, secret).update(text).digest('base64'));
          assert.doesNotMatch(signature, /[+/=]/);
        }
      });

    test('rsa-sha256 signs with the key of a certificate, in a configured header', async () => {
      const certificateId = await upload(rsa.certPem + rsa.keyPem);
      const headers = ['X-Own', 'Absent', '(request-target)', 'Date'];
      const wish = { certificateId, algorithm: 'rsa-sha256', headers, header: 'X-Signature' };
      for (const { url } of await publishBoth(app, upstream, createSigning(wish))) {
        await got(`${url}/a`, { headers: { 'x-own': '1', authorization: 'Mine', 'x-signature': 'forged' } });
        const received = upstream.requests.at(-1)!;
        assert.equal(received.headers.authorization, 'Mine');
        const it = read(received, 'x-signature');
        assert.deepEqual(it.headers, ['x-own', '(request-target)', 'date']);
        const key = createPublicKey(rsa.certPem);
        assert.ok(verify('sha256', Buffer.from(it.text), key, Buffer.from(it.signature, 'base64')));
      }
    });

    test('without any of the listed headers the request target and the date are signed', async () => {
      for (const { url } of await publishBoth(
        app,
        upstream,
        createSigning({ secret, algorithm: 'hmac-sha256', headers: ['x-none'] }),
      )) {
        await got(`${url}/a`);
        assert.deepEqual(read(upstream.requests.at(-1)!).headers, ['(request-target)', 'date']);
      }
    });

    const missing = 'Fields required for signing the request are missing';
    const unknown = 'Request signing algorithm is not supported';
    const faults: Record<string, [Signing, string]> = {
      'no key id': [{ keyId: '', secret, algorithm: 'hmac-sha256' }, missing],
      'no secret': [{ algorithm: 'hmac-sha256' }, missing],
      'no algorithm': [{ secret }, missing],
      'a certificate where a secret is needed': [{ certificateId: 'x'.repeat(64), algorithm: 'hmac-sha256' }, missing],
      'an unknown algorithm': [{ secret, algorithm: 'hmac-md5' }, unknown],
    };
    for (const [name, [wish, message]] of Object.entries(faults))
      test(`${name} gets 500, and the upstream is not called`, async () => {
        // A definition may name a certificate that does not exist; missing members are reported first.
        for (const { url } of await publishBoth(app, upstream, createSigning(wish)))
          assert.deepEqual(await got(`${url}/a`), { status: 500, text: errorBody(message) });
        assert.equal(upstream.requests.length, 0);
      });

    test('an algorithm that is not allowed is refused', async () => {
      const [classic] = await publishBoth(
        app,
        upstream,
        createSigning({ secret, algorithm: 'hmac-sha1', allowed: ['hmac-sha256'] }),
      );
      assert.deepEqual(await got(`${classic!.url}/a`), { status: 500, text: errorBody(unknown) });
    });

    test('an API with a missing certificate, or one of the wrong kind, is not served', async () => {
      const other = await upload(elliptic.certPem + elliptic.keyPem);
      for (const certificateId of ['f'.repeat(64), other])
        for (const { url } of await publishBoth(
          app,
          upstream,
          createSigning({ certificateId, algorithm: 'rsa-sha256' }),
        )) {
          assert.match(await findUnavailableReason(app, `${url}/a`), /certificate/);
        }
    });

    test('a certificate that is added later is used', async () => {
      const late = makeCertificate({ cn: 'Late signer', keyType: 'rsa' });
      const certificateId = await upload(late.certPem + late.keyPem);
      await app.ask('DELETE', `/api/certs/${certificateId}`);
      const apis = await publishBoth(app, upstream, createSigning({ certificateId, algorithm: 'rsa-sha256' }));
      for (const { url } of apis) assert.equal((await got(`${url}/a`)).status, 503);
      await upload(late.certPem + late.keyPem);
      await waitUntilApplied(app);
      for (const { url } of apis) await eventually(async () => assert.equal((await got(`${url}/a`)).status, 200));
    });
  });

  test('basic authentication replaces the client’s credentials', async () => {
    const basic = { enabled: true, username: 'gateway', password: 'pass:word' };
    const value = `Basic ${Buffer.from('gateway:pass:word').toString('base64')}`;
    const plain: BothFormats = {
      classic: { upstream_auth: { enabled: true, basic_auth: basic } },
      oas: { upstream: { url: upstream.url, authentication: { enabled: true, basicAuth: basic } } },
    };
    for (const { url } of await publishBoth(app, upstream, plain)) {
      await got(`${url}/a`, { headers: { authorization: 'Bearer callers' } });
      assert.equal(upstream.requests.at(-1)!.headers.authorization, value);
    }
    const named = { ...basic, header: { enabled: true, name: 'X-Upstream' } };
    const other: BothFormats = {
      classic: { upstream_auth: { enabled: true, basic_auth: named } },
      oas: { upstream: { url: upstream.url, authentication: { enabled: true, basicAuth: named } } },
    };
    for (const { url } of await publishBoth(app, upstream, other)) {
      await got(`${url}/a`, {
        headers: { authorization: 'Bearer callers', 'x-upstream': 'forged', x_upstream: 'forged' },
      });
      const { headers } = upstream.requests.at(-1)!;
      assert.deepEqual(
        [headers.authorization, headers['x-upstream'], headers.x_upstream],
        ['Bearer callers', value, undefined],
      );
    }
  });

  describe('OAuth 2.0 tokens', () => {
    const client = { clientSecret: 'canary:secret', tokenUrl: '', scopes: ['a', 'b'] };
    const createOauthClient = (grant: 'clientCredentials' | 'password', more: object = {}): BothFormats => {
      const tokenUrl = `${issuer.url}/token`;
      const user = grant === 'password' ? { username: 'someone', password: 'canary of password' } : {};
      const oas = { ...client, clientId: 'gw', tokenUrl, ...user, ...more };
      const { clientId, clientSecret, extraMetadata, tokenUrl: url, ...same } = oas as Record<string, unknown>;
      const classic = {
        ...same,
        client_id: clientId,
        client_secret: clientSecret,
        token_url: url,
        extra_metadata: extraMetadata ?? [],
      };
      const [name, member] =
        grant === 'password' ? ['password', 'password'] : ['client_credentials', 'clientCredentials'];
      return {
        classic: {
          upstream_auth: {
            enabled: true,
            oauth: { enabled: true, allowed_authorize_types: [grant], [name]: classic },
          },
        },
        oas: {
          upstream: {
            url: upstream.url,
            authentication: { enabled: true, oauth: { enabled: true, allowedAuthorizeTypes: [grant], [member]: oas } },
          },
        },
      };
    };
    let given = 0;
    const issuing = (more: object = {}, status = 200) => {
      issuer.answer = (_request, response) =>
        response.writeHead(status).end(JSON.stringify({ access_token: `token-${++given}`, expires_in: 3600, ...more }));
    };

    test('client credentials: one token for all requests, fetched once for concurrent ones', async () => {
      issuing();
      for (const { url } of await publishBoth(app, upstream, createOauthClient('clientCredentials'))) {
        issuer.requests.length = 0;
        upstream.requests.length = 0;
        await Promise.all(Array.from({ length: 10 }, () => got(`${url}/a`, { headers: { authorization: 'Mine' } })));
        assert.equal(issuer.requests.length, 1);
        const [asked] = issuer.requests;
        const basic = Buffer.from('gw:canary%3Asecret').toString('base64');
        assert.deepEqual(
          [asked!.method, asked!.url, asked!.headers.authorization, asked!.body],
          ['POST', '/token', `Basic ${basic}`, 'grant_type=client_credentials&scope=a+b'],
        );
        const shown = new Set(upstream.requests.map(({ headers }) => headers.authorization));
        assert.deepEqual([...shown], [`Bearer token-${given}`]);
      }
    });

    test('password grant: client credentials in the body when configured, token in a configured header', async () => {
      issuing();
      const wish = { method: 'client_secret_post', header: { enabled: true, name: 'X-Token' } };
      for (const { url } of await publishBoth(app, upstream, createOauthClient('password', wish))) {
        await got(`${url}/a`, { headers: { authorization: 'Mine' } });
        const asked = issuer.requests.at(-1)!;
        assert.equal(asked.headers.authorization, undefined);
        assert.deepEqual(Object.fromEntries(new URLSearchParams(asked.body)), {
          grant_type: 'password',
          username: 'someone',
          password: 'canary of password',
          scope: 'a b',
          client_id: 'gw',
          client_secret: 'canary:secret',
        });
        const { headers } = upstream.requests.at(-1)!;
        assert.deepEqual([headers.authorization, headers['x-token']], ['Mine', `Bearer token-${given}`]);
      }
    });

    test('an issuer without a token: 502, an event, no upstream request, and no secret in the log', async () => {
      const bad: Record<string, () => void> = {
        refuses: () => issuing({ access_token: 'canary-token' }, 401),
        'answers in HTML': () => {
          issuer.answer = (_request, response) => response.end('<html>canary-token</html>');
        },
        'gives something else': () => issuing({ access_token: ['canary-token'] }),
        'gives what no header can hold': () => issuing({ access_token: 'canary-token\r\nx: y' }),
        'breaks off': () => {
          issuer.answer = request => void request.socket.destroy();
        },
      };
      for (const [name, lie] of Object.entries(bad)) {
        lie();
        for (const { url, apiId } of await publishBoth(app, upstream, createOauthClient('clientCredentials'))) {
          assert.deepEqual(
            await got(`${url}/a`),
            { status: 502, text: errorBody('There was a problem proxying the request') },
            name,
          );
          await eventually(() => assert.ok(lines.some(it => it.includes('UpstreamOAuthError') && it.includes(apiId))));
        }
      }
      assert.equal(upstream.requests.length, 0);
      assert.ok(!lines.some(line => line.includes('canary')));
    });

    test('a token that expired or that the upstream refused is replaced', async () => {
      issuing({ expires_in: 1 });
      for (const { url } of await publishBoth(app, upstream, createOauthClient('clientCredentials'))) {
        await got(`${url}/a`);
        const first = upstream.requests.at(-1)!.headers.authorization;
        await eventually(async () => {
          await got(`${url}/a`);
          assert.notEqual(upstream.requests.at(-1)!.headers.authorization, first);
        });
      }
      issuing();
      for (const { url } of await publishBoth(app, upstream, createOauthClient('clientCredentials'))) {
        await got(`${url}/a`);
        const first = upstream.requests.at(-1)!.headers.authorization;
        upstream.answer = ({ headers }, response) =>
          response.writeHead(headers.authorization === first ? 401 : 200).end();
        await eventually(async () => assert.equal((await got(`${url}/a`)).status, 200));
        upstream.answer = undefined;
      }
    });

    test('configured members of the token response are context variables', async () => {
      issuing({ tenant: 'blue' });
      const { classic, oas } = createOauthClient('clientCredentials', { extraMetadata: ['tenant'] });
      const add = { 'x-tenant': '$gw_context.tenant' };
      const versions = { Default: { name: 'Default', global_headers: add } };
      const added = Object.entries(add).map(([name, value]) => ({ name, value }));
      const both: BothFormats = {
        classic: { ...classic, enable_context_vars: true, version_data: { not_versioned: true, versions } },
        oas: {
          ...oas,
          middleware: {
            global: { contextVariables: { enabled: true }, transformRequestHeaders: { enabled: true, add: added } },
          },
        },
      };
      for (const { url, format } of await publishBoth(app, upstream, both)) {
        await got(`${url}/a`);
        const { headers } = upstream.requests.at(-1)!;
        assert.equal(headers['x-tenant'], 'blue', format);
      }
    });

    test('an API with an invalid configuration is not served', async () => {
      const wishes: [string, object][] = [
        ['clientCredentials', { clientId: '' }],
        ['implicit', {}],
      ];
      for (const [grant, more] of wishes)
        for (const { url } of await publishBoth(app, upstream, createOauthClient(grant as 'password', more)))
          assert.equal((await got(`${url}/a`)).status, 503);
    });
  });
});
