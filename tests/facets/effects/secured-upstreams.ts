import assert from 'node:assert/strict';
import type { TlsOptions } from 'node:tls';
import type { JsonObject } from '#base/json-tree.ts';
import {
  type MadeCertificate,
  makeAuthority,
  makeClientCertificate,
  makeServerCertificate,
} from '../../support/certificates.ts';
import { startSecure } from '../../support/secure-upstream.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** How the gateway speaks to upstreams behind TLS, and through whom. */

const authority = makeAuthority('Upstream authority');
const leaf = makeServerCertificate(authority);

/** Starts an upstream that reports its connection, for the duration of the effect. */
async function startSecured({ open }: Ground, more: TlsOptions = {}): Promise<string> {
  const made = await startSecure({ cert: leaf.chainPem, key: leaf.keyPem, ...more });
  open.push(made);
  return `https://127.0.0.1:${made.port}`;
}

const uploadCertificate = async ({ app }: Ground, pem: string): Promise<string> =>
  (await app.ask('POST', '/api/certs', { body: pem })).body.id;
/** The key of the upstream, which the store takes once. */
const pins = new WeakMap<object, Promise<string>>();
function leafPin(at: Ground): Promise<string> {
  const known = pins.get(at.app) ?? uploadCertificate(at, leaf.publicKeyPem);
  pins.set(at.app, known);
  return known;
}
/** The authority, which the store takes once too. */
const authorities = new WeakMap<object, Promise<string>>();
function authorityId(at: Ground): Promise<string> {
  const known = authorities.get(at.app) ?? uploadCertificate(at, authority.certPem);
  authorities.set(at.app, known);
  return known;
}
const withKey = ({ certPem, keyPem }: MadeCertificate) => certPem + keyPem;

/** An API with an upstream over TLS, and further members beside its URL. */
const over = (
  members: { classic(at: Ground): JsonObject | Promise<JsonObject>; oas(at: Ground): JsonObject | Promise<JsonObject> },
  server: TlsOptions = {},
): Pick<Effect, 'classic' | 'oas'> => ({
  classic: async at => {
    const { proxy, ...rest } = (await members.classic(at)) as { proxy?: JsonObject };
    return { ...rest, proxy: { target_url: await startSecured(at, server), ...proxy } };
  },
  oas: async at => ({ x: { upstream: { url: await startSecured(at, server), ...(await members.oas(at)) } } }),
});

const transport = (classic: JsonObject, oas: JsonObject, server: TlsOptions = {}) =>
  over({ classic: () => ({ proxy: { transport: classic } }), oas: () => ({ tlsTransport: oas }) }, server);
const transportChange = ({ format }: Served, classic: JsonObject, oas: JsonObject): JsonObject =>
  format === 'classic' ? { proxy: { transport: classic } } : { upstream: { tlsTransport: oas } };

const suite = 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384';
const status = async ({ call }: Served): Promise<number> => (await call()).status;

export const securedUpstreams: readonly Effect[] = [
  {
    rows: 'transport.insecureSkipVerify',
    promise: 'an untrusted upstream certificate is accepted only with insecureSkipVerify',
    ...transport({ ssl_insecure_skip_verify: true }, { insecureSkipVerify: true }),
    async observe(at) {
      assert.equal(await status(at), 200);
      await at.change(transportChange(at, { ssl_insecure_skip_verify: false }, { insecureSkipVerify: false }));
      assert.equal(await status(at), 502);
    },
  },
  {
    rows: 'transport.caCertificates,caCertificatesOnly',
    promise:
      'an upstream certificate of a named authority is accepted; without any, and no other trusted, there is no service',
    ...over({
      classic: async at => ({
        proxy: { transport: { ssl_ca_certificates: [await authorityId(at)], ssl_ca_certificates_only: true } },
      }),
      oas: async at => ({ tlsTransport: { caCertificates: [await authorityId(at)], caCertificatesOnly: true } }),
    }),
    async observe(at) {
      assert.equal(await status(at), 200);
      await at.change(transportChange(at, { ssl_ca_certificates: [] }, { caCertificates: [] }));
      assert.equal(await status(at), 503);
      await at.change(transportChange(at, { ssl_ca_certificates_only: false }, { caCertificatesOnly: false }));
      assert.equal(await status(at), 502);
    },
  },
  {
    rows: 'transport.ciphers,maxVersion',
    promise: 'only the configured cipher suites are offered, up to the maximum TLS version',
    ...transport(
      { ssl_insecure_skip_verify: true, ssl_max_version: 771, ssl_ciphers: [suite] },
      { insecureSkipVerify: true, maxVersion: '1.2', ciphers: [suite] },
    ),
    async observe({ call }) {
      const { protocol, cipher } = (await call()).body;
      assert.deepEqual([protocol, cipher], ['TLSv1.2', 'ECDHE-ECDSA-AES256-GCM-SHA384']);
    },
  },
  {
    rows: 'transport.minVersion',
    promise: 'an upstream below the minimum TLS version is refused',
    ...transport(
      { ssl_insecure_skip_verify: true, ssl_min_version: 772 },
      { insecureSkipVerify: true, minVersion: '1.3' },
      { maxVersion: 'TLSv1.2' },
    ),
    async observe(at) {
      assert.equal(await status(at), 502);
      await at.change(transportChange(at, { ssl_min_version: 771 }, { minVersion: '1.2' }));
      assert.equal(await status(at), 200);
    },
  },
  {
    rows: 'transport.forceCommonNameCheck',
    promise: 'the common name is checked when configured, also without other verification',
    ...transport(
      { ssl_insecure_skip_verify: true, ssl_force_common_name_check: true },
      { insecureSkipVerify: true, forceCommonNameCheck: true },
    ),
    async observe(at) {
      assert.equal(await status(at), 502);
      await at.change(transportChange(at, { ssl_force_common_name_check: false }, { forceCommonNameCheck: false }));
      assert.equal(await status(at), 200);
    },
  },
  {
    rows: 'transport.proxyEnabled,proxyUrl',
    promise: 'upstream requests use the configured forward proxy',
    classic: ({ upstream }) => ({
      proxy: { target_url: 'http://service.invalid:8000/base', transport: { proxy_url: upstream.url } },
    }),
    oas: ({ upstream }) => ({
      x: { upstream: { url: 'http://service.invalid:8000/base', proxy: { enabled: true, url: upstream.url } } },
    }),
    async observe(at) {
      assert.equal((await at.call()).body.url, 'http://service.invalid:8000/base/thing');
      await at.change(
        at.format === 'classic'
          ? { proxy: { transport: { proxy_url: '' } } }
          : { upstream: { proxy: { enabled: false } } },
      );
      assert.equal(await status(at), 502);
    },
  },
  {
    rows: 'mutualTls.enabled,certificates',
    promise: 'the upstream receives the client certificate of its host',
    ...over({
      classic: async at => ({
        upstream_certificates_disabled: false,
        upstream_certificates: {
          '127.0.0.1': await uploadCertificate(at, withKey(makeClientCertificate(authority, 'us'))),
        },
        proxy: { transport: { ssl_insecure_skip_verify: true } },
      }),
      oas: async at => {
        const certificate = await uploadCertificate(at, withKey(makeClientCertificate(authority, 'us')));
        return {
          mutualTLS: { enabled: true, domainToCertificateMapping: [{ domain: '127.0.0.1', certificate }] },
          tlsTransport: { insecureSkipVerify: true },
        };
      },
    }),
    async observe(at) {
      assert.equal((await at.call()).body.caller, 'us');
      const off = {
        classic: { upstream_certificates_disabled: true },
        oas: { upstream: { mutualTLS: { enabled: false } } },
      };
      await at.change(off[at.format]);
      assert.equal((await at.call()).body.caller, undefined);
    },
  },
  {
    rows: 'certificatePinning.enabled,publicKeys',
    promise: 'an upstream with a pinned key needs no trusted authority, and another key is refused',
    ...over({
      classic: async at => ({
        certificate_pinning_disabled: false,
        pinned_public_keys: { '127.0.0.1': await leafPin(at) },
      }),
      oas: async at => ({
        certificatePinning: {
          enabled: true,
          domainToPublicKeysMapping: [{ domain: '127.0.0.1', publicKeys: [await leafPin(at)] }],
        },
      }),
    }),
    async observe(at) {
      assert.equal(await status(at), 200);
      const other = await uploadCertificate(at, makeServerCertificate(authority).publicKeyPem);
      const pinned = [{ domain: '127.0.0.1', publicKeys: [other] }];
      const wrong = {
        classic: { pinned_public_keys: { '127.0.0.1': other } },
        oas: { upstream: { certificatePinning: { domainToPublicKeysMapping: pinned } } },
      };
      await at.change({ ...wrong[at.format] });
      assert.equal(await status(at), 502);
      await at.change(transportChange(at, { ssl_insecure_skip_verify: true }, { insecureSkipVerify: true }));
      assert.equal(await status(at), 502);
      const off = {
        classic: { certificate_pinning_disabled: true },
        oas: { upstream: { certificatePinning: { enabled: false } } },
      };
      await at.change(off[at.format]);
      assert.equal(await status(at), 200);
    },
  },
];
