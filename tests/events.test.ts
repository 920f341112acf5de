import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { eventHandlerList } from '#definition/facets/event-handlers.ts';
import { type EventName, eventNames } from '#events/payload.ts';
import { startCertificateExpiryMonitor } from '#gateway/runtime/certificate-expiry-monitor.ts';
import { startApp, type TestApp } from './support/app.ts';
import { makeCertificate } from './support/certificates.ts';
import { hook, issuer, publishTokens, type Wanted } from './support/oauth2.ts';
import { openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';
import { handling, type Receiver, startReceiver, webhook } from './support/webhooks.ts';

/** Every event there is, provoked, and what its webhook is sent. */

let app: TestApp;
let upstream: Upstream;
let receiver: Receiver;
/** Path of the webhook of the operator's handlers. */
const operatorPath = '/operator';

before(async () => {
  [upstream, receiver] = await Promise.all([startUpstream(), startReceiver()]);
  const handlers = ['TokenCreated', 'TokenUpdated', 'TokenDeleted', 'TriggerExceeded'].map(event => [
    event,
    [webhook(`${receiver.url}${operatorPath}/${event}`)],
  ]);
  app = await startApp('sqlite', {
    settings: {
      'events.handlers': JSON.stringify(Object.fromEntries(handlers)),
      'limits.organisations': 'true',
      'limits.monitor_keys': 'true',
      'limits.monitor_percent': '50',
    },
  });
});
after(async () => {
  await app?.close();
  await receiver?.close();
  await upstream?.close();
});

interface EventBody {
  readonly [member: string]: unknown;
}

/** An API whose handler of an event calls a path of its own. */
async function publishHooked(event: EventName, definition: object = {}, credential?: string) {
  const path = `/${createPublicId()}`;
  const api = openApi(upstream, { ...handling(event, webhook(receiver.url + path)), ...definition });
  const asked = { body: { api_definition: api }, ...(credential && { credential }) };
  const { status, text } = await app.ask('POST', '/api/apis', asked);
  assert.equal(status, 200, text);
  await waitUntilApplied(app);
  const url = app.url.gateway + api.proxy.listen_path;
  return {
    api,
    listenPath: api.proxy.listen_path,
    call: (headers: Record<string, string> = {}, below = '/x') => fetch(url + below, { headers }).then(it => it.status),
    takeEvent: async (): Promise<EventBody> => JSON.parse((await receiver.take(path))[0]!.body),
    first: async (): Promise<EventBody> =>
      JSON.parse(
        (
          await eventually(() => {
            assert.ok(receiver.at(path).length > 0);
            return receiver.at(path);
          })
        )[0]!.body,
      ),
  };
}

async function keyFor(apiId: string, key: object) {
  const { status, text, body } = await app.ask('POST', '/api/keys', {
    body: { access_rights: { [apiId]: {} }, ...key },
  });
  assert.equal(status, 200, text);
  await waitUntilApplied(app);
  return {
    id: body.key_id as string,
    hash: body.key_hash as string,
    headers: { authorization: body.key_id as string },
  };
}

const guarded = { use_keyless: false };
const origin = '127.0.0.1';

/** A call with a signed token, whose event has these words. */
async function ofToken(
  event: EventName,
  message: string,
  wanted: Wanted,
): Promise<[received: EventBody, expected: EventBody]> {
  const path = `/${createPublicId()}`;
  const { id, call, as } = await publishTokens(app, upstream, { ...wanted, server: hook(event, receiver.url + path) });
  await call('/x', as({}));
  const body: EventBody = JSON.parse((await receiver.take(path))[0]!.body);
  assert.match(String(body.key), /^[0-9a-f]+$/);
  return [body, { event, message, path: `/${id}/x`, origin, key: body.key }];
}

const createExchangeApi = (page: string): Wanted => {
  const provider = { name: 'one', issuers: [issuer], clientAuth: { clientId: 'me' } };
  const providers = [{ ...provider, tokenEndpoint: `${receiver.url}/${page}` }];
  return { scheme: { tokenExchange: { enabled: true, providers } } };
};

/** What provokes an event, and the body that follows. */
const provoked: Partial<Record<EventName, () => Promise<[received: EventBody, expected: EventBody]>>> = {
  async AuthFailure() {
    const { call, takeEvent, listenPath } = await publishHooked('AuthFailure', guarded);
    assert.equal(await call({ authorization: 'nobody' }), 403);
    const body = await takeEvent();
    assert.match(String(body.key), /^[0-9a-f]+$/);
    assert.notEqual(body.key, 'nobody');
    return [body, { event: 'AuthFailure', message: 'Auth Failure', path: `${listenPath}/x`, origin, key: body.key }];
  },
  async KeyExpired() {
    const { api, call, takeEvent, listenPath } = await publishHooked('KeyExpired', guarded);
    const { hash, headers } = await keyFor(api.api_id, { is_inactive: true });
    assert.equal(await call(headers), 403);
    const message = 'Attempted access from inactive key.';
    return [await takeEvent(), { event: 'KeyExpired', message, path: `${listenPath}/x`, origin, key: hash }];
  },
  async VersionFailure() {
    const closed = { path: '/x', method: 'GET', method_actions: {} };
    const version = { name: 'Default', use_extended_paths: true, extended_paths: { black_list: [closed] } };
    const { call, takeEvent, listenPath } = await publishHooked('VersionFailure', {
      version_data: { not_versioned: true, versions: { Default: version } },
    });
    assert.equal(await call(), 403);
    const message = 'Attempted access to disallowed version / path.';
    return [await takeEvent(), { event: 'VersionFailure', message, path: `${listenPath}/x`, origin, key: '' }];
  },
  async RatelimitExceeded() {
    const { api, call, takeEvent, listenPath } = await publishHooked('RatelimitExceeded', guarded);
    const { hash, headers } = await keyFor(api.api_id, { rate: 1, per: 3600 });
    assert.deepEqual([await call(headers), await call(headers)], [200, 429]);
    const message = 'Rate Limit Exceeded';
    return [await takeEvent(), { event: 'RatelimitExceeded', message, path: `${listenPath}/x`, origin, key: hash }];
  },
  async QuotaExceeded() {
    const { api, call, takeEvent, listenPath } = await publishHooked('QuotaExceeded', guarded);
    const { hash, headers } = await keyFor(api.api_id, { quota_max: 1, quota_renewal_rate: 3600 });
    assert.deepEqual([await call(headers), await call(headers)], [200, 403]);
    const message = 'Key Quota Limit Exceeded';
    return [await takeEvent(), { event: 'QuotaExceeded', message, path: `${listenPath}/x`, origin, key: hash }];
  },
  OAuth2ScopeCheckFailed: () =>
    ofToken('OAuth2ScopeCheckFailed', 'Scope check failed', {
      document: { security: [{ jwt: [], scopes: ['read'] }] },
      scheme: { scopeCheck: { enabled: true } },
    }),
  async OAuth2ExchangeSucceeded() {
    receiver.answer = ({ url }, response) => response.end(url === '/token' ? '{"access_token":"new"}' : '');
    const provoked = await ofToken('OAuth2ExchangeSucceeded', 'Token exchange succeeded', createExchangeApi('token'));
    receiver.answer = undefined;
    return provoked;
  },
  OAuth2ExchangeFailed: () => ofToken('OAuth2ExchangeFailed', 'Token exchange failed', createExchangeApi('nothing')),
  OrgRateLimitExceeded: () =>
    ofOrganisation('OrgRateLimitExceeded', { rate: 1, per: 3600 }, 'Organisation rate limit has been exceeded'),
  OrgQuotaExceeded: () =>
    ofOrganisation(
      'OrgQuotaExceeded',
      { quota_max: 1, quota_renewal_rate: 3600 },
      'Organisation quota has been exceeded',
    ),
  RateLimitSmoothingUp: () => runSmoothing('RateLimitSmoothingUp', 'Rate limit increased with smoothing'),
  RateLimitSmoothingDown: () => runSmoothing('RateLimitSmoothingDown', 'Rate limit decreased with smoothing'),
  async TriggerExceeded() {
    const { api, call, takeEvent } = await publishHooked('TriggerExceeded', guarded);
    const { hash, headers } = await keyFor(api.api_id, { quota_max: 2, quota_renewal_rate: 3600 });
    assert.equal(await call(headers), 200);
    const org = app.credentials.organisation_id;
    const expected = {
      event: 'TriggerExceeded',
      message: 'Quota trigger reached',
      org,
      key: hash,
      trigger_limit: '50',
    };
    await eventually(() =>
      assert.ok(receiver.at(`${operatorPath}/TriggerExceeded`).some(({ body }) => body === JSON.stringify(expected))),
    );
    return [await takeEvent(), expected];
  },
  TokenCreated: () => ofKey('TokenCreated', 'Key generated.', async () => undefined),
  TokenUpdated: () =>
    ofKey('TokenUpdated', 'Key modified.', (id, rights) =>
      app.ask('PUT', `/api/keys/${id}`, { body: { access_rights: rights, alias: 'new' } }),
    ),
  TokenDeleted: () => ofKey('TokenDeleted', 'Key deleted.', id => app.ask('DELETE', `/api/keys/${id}`)),
  CertificateExpiringSoon: () => ofCertificate('CertificateExpiringSoon', 0),
  CertificateExpired: () => ofCertificate('CertificateExpired', 21),
  BreakerTriggered: () => ofBreaker('BreakerTriggered', 'Breaker Tripped', { Status: '0' }),
  BreakerTripped: () => ofBreaker('BreakerTripped', 'Breaker Tripped'),
  BreakerReset: () => ofBreaker('BreakerReset', 'Breaker Reset'),
  async UpstreamOAuthError() {
    const tokens = await startUpstream();
    tokens.answer = (_request, response) => void response.writeHead(500).end();
    const client_credentials = {
      client_id: 'gateway',
      client_secret: createPublicId(),
      token_url: `${tokens.url}/token`,
    };
    const oauth = { enabled: true, allowed_authorize_types: ['clientCredentials'], client_credentials };
    const { call, takeEvent, listenPath } = await publishHooked('UpstreamOAuthError', {
      upstream_auth: { enabled: true, oauth },
    });
    assert.ok((await call()) >= 500);
    const message = 'No token for the upstream';
    const body = await takeEvent();
    await tokens.close();
    return [body, { event: 'UpstreamOAuthError', message, path: `${listenPath}/x`, origin, key: '' }];
  },
  HostDown: () => ofHost('HostDown'),
  HostUp: () => ofHost('HostUp'),
};

async function ofOrganisation(event: EventName, limits: object, message: string): Promise<[EventBody, EventBody]> {
  const { orgId, accessKey } = await app.stranger();
  const { call, takeEvent, listenPath } = await publishHooked(event, {}, accessKey);
  assert.equal((await app.ask('POST', `/gw/org/keys/${orgId}`, { body: limits })).status, 200);
  await waitUntilApplied(app);
  const [first, second] = [await call(), await call()];
  assert.equal(first, 200);
  assert.ok(second >= 400);
  return [await takeEvent(), { event, message, path: `${listenPath}/x`, origin, key: orgId }];
}

async function runSmoothing(event: EventName, message: string): Promise<[EventBody, EventBody]> {
  const { api, call, first, listenPath } = await publishHooked(event, guarded);
  const smoothing = { enabled: true, threshold: 2, trigger: 0, step: 1, delay: 1 };
  const { hash, headers } = await keyFor(api.api_id, { rate: 5, per: 1, smoothing });
  const received = first();
  const state = { isReceived: false };
  void received.then(() => (state.isReceived = true));
  // A burst raises the allowance, and what is left of it lowers it again once the window is over.
  while (!state.isReceived) {
    for (let calls = 0; calls < 4; calls++) await call(headers);
    await new Promise(resolve => setTimeout(resolve, 400));
  }
  return [await received, { event, message, path: `${listenPath}/x`, origin, key: hash }];
}

async function ofKey(
  event: EventName,
  message: string,
  act: (id: string, rights: object) => Promise<unknown>,
): Promise<[EventBody, EventBody]> {
  const api = openApi(upstream, guarded);
  await publish(app, api);
  const { id, hash } = await keyFor(api.api_id, {});
  await act(id, { [api.api_id]: {} });
  const expected = { event, message, path: '', origin: '', key: hash };
  const found = await eventually(() => {
    const bodies = receiver.at(`${operatorPath}/${event}`).map(({ body }) => JSON.parse(body) as EventBody);
    const own = bodies.filter(({ key }) => key === hash);
    assert.equal(own.length, 1);
    return own[0]!;
  });
  return [found, expected];
}

/** A certificate that has ten and a half days left, looked at so many days from now. */
async function ofCertificate(event: EventName, daysAhead: number): Promise<[EventBody, EventBody]> {
  const dayMs = 86_400_000;
  const endsMs = Math.floor((Date.now() + 10.5 * dayMs) / 1000) * 1000;
  const form = new FormData();
  const { certPem } = makeCertificate({ cn: 'caller', notAfter: new Date(endsMs) });
  form.append('file', new Blob([certPem]), 'caller.pem');
  const uploaded = await app.ask('POST', '/api/certs', { body: form });
  assert.equal(uploaded.status, 200, uploaded.text);
  const cert_id: string = uploaded.body.id;
  const { api, takeEvent } = await publishHooked(event, {
    use_mutual_tls_auth: true,
    client_certificates: [cert_id],
  });
  const clock = { now: () => Date.now() + daysAhead * dayMs };
  const log = createLog({ level: 'silent', format: 'json' });
  const watch = startCertificateExpiryMonitor({ ...app.application.installation.services, clock, log });
  await watch.check();
  await watch.check();
  await watch.close();
  const body = await takeEvent();
  assert.match(String(body.timestamp), /^\d{4}-\d\d-\d\dT/);
  const when = new Date(endsMs).toISOString().replace('.000Z', 'Z');
  const soon = { message: 'Certificate is expiring soon', expires_at: when, days_remaining: 10 };
  const over = { message: 'Certificate has expired', expired_at: when, days_since_expiry: 10 };
  const { message, ...rest } = daysAhead === 0 ? soon : over;
  const named = { event, message, cert_id, cert_name: 'caller', ...rest, cert_role: 'client' };
  return [body, { ...named, api_id: api.api_id, timestamp: body.timestamp }];
}

/** An upstream that fails trips the breaker of its endpoint, and one that is well again resets it. */
async function ofBreaker(event: EventName, message: string, more: object = {}): Promise<[EventBody, EventBody]> {
  const failing = await startUpstream();
  failing.answer = (_request, response) => void response.writeHead(500).end();
  const breaker = { path: '/x', method: 'GET', threshold_percent: 0.5, samples: 2, return_to_service_after: 1 };
  const version = { name: 'Default', use_extended_paths: true, extended_paths: { circuit_breakers: [breaker] } };
  const { api, call, first } = await publishHooked(event, {
    version_data: { not_versioned: true, versions: { Default: version } },
    proxy: { target_url: failing.url },
  });
  for (let calls = 0; calls < 3; calls++) await call();
  failing.answer = undefined;
  await eventually(async () => assert.equal(await call(), 200));
  const received = await first();
  await failing.close();
  return [received, { event, message, api_id: api.api_id, path: '/x', ...more }];
}

/** Uptime tests fire through the same door as every step; what is sent for them is held here. */
async function emitByOperation(event: EventName, detail: object, expected: object): Promise<[EventBody, EventBody]> {
  const path = `/${createPublicId()}`;
  const handlers = eventHandlerList.classic.decode({ [event]: [webhook(receiver.url + path)] });
  const { events } = app.application.installation.services;
  const orgId = app.credentials.organisation_id;
  events.emit({ event, atMs: 0, orgId, apiId: 'some-api', detail: { message: 'So it is', ...detail } }, handlers);
  const [call] = await receiver.take(path);
  return [JSON.parse(call!.body), { event, message: 'So it is', api_id: 'some-api', ...expected }];
}

async function ofHost(event: EventName): Promise<[EventBody, EventBody]> {
  const host_info = {
    CheckURL: 'http://a.example/up',
    ResponseCode: 503,
    IsTCPError: false,
    MetaData: { target_url: 'http://a.example', host_name: 'a.example', api_id: 'some-api' },
  };
  const about = { url: 'http://a.example/up', response_code: '503', tcp_error: 'false', host: 'a.example' };
  const [received, { api_id, ...named }] = await emitByOperation(event, { host_info }, {});
  return [received, { ...named, ...about, api_id }];
}

describe('Events', () => {
  for (const [event, provoke] of Object.entries(provoked))
    test(`${event} is emitted with exactly its members, in order`, async () => {
      const [received, expected] = await provoke();
      assert.equal(JSON.stringify(received), JSON.stringify(expected));
    });

  test('every event has a case', () => {
    assert.deepEqual(
      eventNames.filter(name => !(name in provoked)),
      [],
    );
  });
});
