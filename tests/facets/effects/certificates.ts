import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type MadeCertificate,
  makeAuthority,
  makeClientCertificate,
  makeServerCertificate,
} from '../../support/certificates.ts';
import { classic, requireMethod } from '../auth-methods.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Callers show a certificate, to a gateway that speaks TLS. */

const authority = makeAuthority();
const settings = createTlsSettings(makeServerCertificate(authority));

/** The gateway reads its own certificate from files. */
function createTlsSettings({ chainPem, keyPem }: MadeCertificate): NonNullable<Effect['settings']> {
  const directory = mkdtempSync(join(tmpdir(), 'gw-effects-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const [certificate, key] = ['certificate.pem', 'key.pem'].map(name => join(directory, name)) as [string, string];
  writeFileSync(certificate, chainPem);
  writeFileSync(key, keyPem);
  return { 'gateway.tls.enabled': 'true', 'gateway.tls.certificate_file': certificate, 'gateway.tls.key_file': key };
}

/** The status of a call over a connection of its own. */
async function statusWith({ url }: Served, client?: MadeCertificate, headers: Record<string, string> = {}) {
  const shown = client && { cert: client.chainPem, key: client.keyPem };
  const call = request(`${url}/thing`, { ca: authority.certPem, agent: false, headers, ...shown });
  call.end();
  const [{ statusCode }] = (await once(call, 'response', { signal: AbortSignal.timeout(20_000) })) as [IncomingMessage];
  call.destroy();
  return statusCode!;
}

const uploadCertificate = async ({ app }: Ground, { certPem }: MadeCertificate): Promise<string> =>
  (await app.ask('POST', '/api/certs', { body: certPem })).body.id;

/** One for each API: a certificate stands for one key only. */
const clients = new Map<string, MadeCertificate>();
function clientOf({ id }: Ground): MadeCertificate {
  const known = clients.get(id) ?? makeClientCertificate(authority, `client of ${id}`);
  clients.set(id, known);
  return known;
}

async function standsForKey(at: Served): Promise<void> {
  const mine = clientOf(at);
  const certificate = await uploadCertificate(at, mine);
  const key = await at.key({ certificate });
  assert.equal(await statusWith(at, mine), 200);
  assert.equal(await statusWith(at, makeClientCertificate(authority, 'stranger')), 401);
  assert.equal(await statusWith(at), 401);
  assert.equal(await statusWith(at, undefined, { authorization: key }), 401);
}

export const certificates: readonly Effect[] = [
  {
    rows: 'clientCertificates.enabled,allowlist',
    promise: 'only clients with a listed certificate are accepted',
    settings,
    classic: async at => ({
      use_mutual_tls_auth: true,
      client_certificates: [await uploadCertificate(at, clientOf(at))],
    }),
    oas: async at => ({
      x: { server: { clientCertificates: { enabled: true, allowlist: [await uploadCertificate(at, clientOf(at))] } } },
    }),
    async observe(at) {
      assert.equal(await statusWith(at, clientOf(at)), 200);
      assert.equal(await statusWith(at, makeClientCertificate(authority, 'stranger')), 403);
      assert.equal(await statusWith(at), 403);
    },
  },
  {
    rows: 'token.useCertificate',
    promise: 'a client certificate can replace the key',
    settings,
    classic: () => classic('token', { auth_configs: { authToken: { use_certificate: true } } }),
    oas: () => requireMethod('token', { enableClientCertificate: true }),
    observe: standsForKey,
  },
  {
    rows: 'olderAuth.useCertificate',
    promise: 'a client certificate can replace the key, by the legacy member',
    settings,
    classic: () => classic('token', { auth: { use_certificate: true } }),
    observe: standsForKey,
  },
];
