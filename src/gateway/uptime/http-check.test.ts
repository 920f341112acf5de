import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createAddressPolicy, networkNames } from '#base/address-policy.ts';
import { createOutboundClient } from '#base/http-client/client.ts';
import { classicToModel } from '#definition/model.ts';
import { makeAuthority, makeServerCertificate } from '../../../tests/support/certificates.ts';
import type { StoredCertificate } from '../auth/certificate-cache.ts';
import { createConnectionOptions } from '../proxy/connection-options.ts';
import { createHostCheck } from './http-check.ts';

test('uptime tests over TLS trust the certificate authorities of the API, over HTTP and TCP', async t => {
  const authority = makeAuthority();
  const { chainPem, keyPem } = makeServerCertificate(authority);
  const server = createHttpsServer({ cert: chainPem, key: keyPem }, (_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const outbound = createOutboundClient();
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await outbound.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function run(ids: string[]) {
    const model = classicToModel({
      api_id: 'api',
      org_id: 'org',
      proxy: { target_url: `https://${host}`, transport: { ssl_ca_certificates: ids } },
      uptime_tests: {
        check_list: [
          { url: `https://${host}/`, method: 'GET' },
          { url: `tls://${host}`, protocol: 'tls', commands: [{ name: 'send', message: 'GET / HTTP/1.0\r\n\r\n' }] },
        ],
      },
    } as Parameters<typeof classicToModel>[0]);
    const stored = { pem: authority.certPem, x509: {} } as StoredCertificate;
    const policy = createAddressPolicy({ networks: networkNames, managementPorts: () => [] });
    const connectionOptionsFor = createConnectionOptions(model, { get: () => stored }, policy);
    const checks = model.uptimeTests.tests.map(check => createHostCheck(check, { outbound, connectionOptionsFor })!);
    return Promise.all(checks.map(async check => (await check.run()).passed));
  }

  assert.deepEqual(await run(['authority']), [true, true]);
  assert.deepEqual(await run([]), [false, false]);
});
