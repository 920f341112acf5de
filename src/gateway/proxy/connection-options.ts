import { createHash, type X509Certificate } from 'node:crypto';
import type { SecureContext, SecureVersion, TLSSocket } from 'node:tls';
import type { AddressPolicy } from '#base/address-policy.ts';
import type { OutboundTls } from '#base/http-client/pool.ts';
import { Lru } from '#base/lru.ts';
import type { Model } from '#definition/model.ts';
import type { CertificateCache, StoredCertificate } from '../auth/certificate-cache.ts';
import type { ReadUpstreamTls } from '../auth/mirrored-metadata.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import {
  type AuthoritySet,
  createAuthoritySet,
  getAuthorityContext,
  systemAuthorities,
  type UpstreamAuthorities,
} from './authorities.ts';
import { toOpenSslCiphers } from './ciphers.ts';
import { findByHostPattern, normalizeHostPatterns } from './host-patterns.ts';
import { createUpstreamError } from './http1/errors.ts';

/** Connection options of an upstream. */
export interface UpstreamConnectionOptions {
  /** Equal for equal options, which share a pool. Empty for default options with all networks allowed. */
  readonly poolKey: string;
  readonly tls: UpstreamTlsOptions;
  /** Forward proxy. */
  readonly proxy: URL | undefined;
  /** Address policy; applies to the forward proxy as well. */
  readonly policy: AddressPolicy;
  /** Returns an error when the upstream certificate is not the expected one. */
  readonly verifyIdentity: ((socket: TLSSocket, host: string) => Error | undefined) | undefined;
}

export interface UpstreamTlsOptions {
  readonly rejectUnauthorized?: boolean;
  readonly minVersion?: SecureVersion;
  readonly maxVersion?: SecureVersion;
  readonly ciphers?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Private certificate authorities, with all of the above: TLS takes nothing else from there then. */
  readonly secureContext?: SecureContext;
}

/** Default options: no client certificate, pin or proxy. */
export const createDefaultConnection = (policy: AddressPolicy): UpstreamConnectionOptions => ({
  poolKey: policy.key,
  tls: {},
  proxy: undefined,
  verifyIdentity: undefined,
  policy,
});

/** Selects the connection options for an upstream address; compiled once per definition. */
export type ConnectionOptionsFor = (destination: Pick<UpstreamAddress, 'origin'>) => UpstreamConnectionOptions;

/** Hosts per API whose options are cached. */
const maxCachedHosts = 1000;

/** Parts of a definition that connections to its upstreams depend on, checked and loaded. */
interface ConnectionParts {
  readonly defaults: UpstreamConnectionOptions;
  readonly general: ReturnType<typeof transportOptions>;
  readonly clientCertificates: ReturnType<typeof loadClientCertificates>;
  readonly pins: ReturnType<typeof loadPinnedKeys>;
  readonly forceCommonNameCheck: boolean;
}

/** Parts of a definition that the TLS options of its upstreams come from. */
export const upstreamTlsParts = ['transport', 'mutualTls', 'certificatePinning'] as const;

type ConnectionModel = Pick<Model, 'identity' | (typeof upstreamTlsParts)[number]>;

export function createConnectionOptions(
  model: ConnectionModel,
  certificates: Pick<CertificateCache, 'get'>,
  policy: AddressPolicy,
  authorities: UpstreamAuthorities = systemAuthorities,
): ConnectionOptionsFor {
  const parts: ConnectionParts = {
    defaults: createDefaultConnection(policy),
    general: transportOptions(model),
    clientCertificates: loadClientCertificates(model, certificates),
    pins: loadPinnedKeys(model, certificates),
    forceCommonNameCheck: model.transport.forceCommonNameCheck,
  };
  const own = loadAuthorities(model, certificates);
  const create = (installed: AuthoritySet) =>
    createOptionsWith(parts, combineAuthorities(installed, own, model.transport.caCertificatesOnly));
  let installed = authorities.current();
  let optionsFor = create(installed);
  if (!authorities.isReloadable) return optionsFor;
  return destination => {
    const current = authorities.current();
    if (current !== installed) {
      installed = current;
      optionsFor = create(current);
    }
    return optionsFor(destination);
  };
}

/** These options open no connection: the client of the requests has the address policy. */
const noAddress: AddressPolicy = { key: 'none', refuse: () => 'no address' };

interface UpstreamTlsServices {
  readonly certificates: Pick<CertificateCache, 'get'>;
  readonly upstreamAuthorities: UpstreamAuthorities;
}

/**
 * TLS options for requests of the gateway itself, read with the first one: a missing certificate is no fault of other
 * requests. They check no pinned keys: where a definition has them, the chain is verified instead.
 */
export function createUpstreamTls(
  model: ConnectionModel,
  { certificates, upstreamAuthorities }: UpstreamTlsServices,
): ReadUpstreamTls {
  let optionsFor: ConnectionOptionsFor | undefined;
  return origin => {
    optionsFor ??= createConnectionOptions(model, certificates, noAddress, upstreamAuthorities);
    return toOutboundTls(optionsFor({ origin }));
  };
}

function toOutboundTls({ tls, verifyIdentity }: UpstreamConnectionOptions): OutboundTls {
  const { cert, key, rejectUnauthorized, secureContext, minVersion, maxVersion, ciphers } = tls;
  return {
    ...(cert && key ? { cert, key } : {}),
    ...(minVersion ? { minVersion } : {}),
    ...(maxVersion ? { maxVersion } : {}),
    ...(ciphers ? { ciphers } : {}),
    ...(secureContext ? { secureContext } : {}),
    ...(rejectUnauthorized === false && !verifyIdentity ? { insecure: true } : {}),
  };
}

/** Options with one set of authorities: constant where nothing but the scheme decides, else cached by origin. */
function createOptionsWith(parts: ConnectionParts, trusted: AuthoritySet): ConnectionOptionsFor {
  const { defaults, general, clientCertificates, pins, forceCommonNameCheck } = parts;
  if (!general && !clientCertificates && !pins && !forceCommonNameCheck) {
    if (trusted.key === '') return () => defaults;
    // With the first request: a TLS context takes milliseconds, and a snapshot may have thousands of APIs.
    let secure: UpstreamConnectionOptions | undefined;
    return ({ origin }) => {
      if (!origin.startsWith('https:')) return defaults;
      secure ??= withPoolKey(withAuthorities(defaults, trusted), [trusted.key]);
      return secure;
    };
  }
  const cache = new Lru<string, UpstreamConnectionOptions>(maxCachedHosts);
  return ({ origin }) => {
    let connection = cache.get(origin);
    if (!connection) {
      connection = buildConnection(origin, parts, trusted);
      cache.set(origin, connection);
    }
    return connection;
  };
}

function buildConnection(origin: string, parts: ConnectionParts, trusted: AuthoritySet): UpstreamConnectionOptions {
  const { defaults, general, clientCertificates, pins, forceCommonNameCheck } = parts;
  const { hostname, port, protocol } = new URL(origin);
  if (protocol !== 'https:') return withPoolKey({ ...defaults, proxy: general?.proxy });
  const hostAndPort = [hostname, port || '443'] as const;
  const clientCertificate = clientCertificates && findByHostPattern(clientCertificates, ...hostAndPort);
  const pinned = pins && findByHostPattern(pins, ...hostAndPort);
  const checks = [...(pinned ? [createPinVerifier(pinned)] : []), ...(forceCommonNameCheck ? [verifyCommonName] : [])];
  const connection: UpstreamConnectionOptions = {
    ...defaults,
    proxy: general?.proxy,
    tls: {
      ...general?.tls,
      ...(clientCertificate ? { cert: clientCertificate.pem, key: clientCertificate.privateKey!() } : {}),
      // A pinned key replaces verification by a CA.
      ...(pinned ? { rejectUnauthorized: false } : {}),
    },
    verifyIdentity:
      checks.length === 0
        ? undefined
        : (socket, host) => checks.map(check => check(socket, host)).find(fault => fault !== undefined),
  };
  const identity = [clientCertificate?.fingerprint, pinned && [...pinned].sort(), forceCommonNameCheck, trusted.key];
  return withPoolKey(withAuthorities(connection, trusted, clientCertificate?.fingerprint), identity);
}

/** Adds the TLS context with the authorities; of the system's alone Node has one. */
function withAuthorities(
  connection: UpstreamConnectionOptions,
  trusted: AuthoritySet,
  clientFingerprint = '',
): UpstreamConnectionOptions {
  if (trusted.key === '') return connection;
  const { rejectUnauthorized: _verifies, ...options } = connection.tls;
  const { cert: _cert, key: _key, ...rest } = options;
  const secureContext = getAuthorityContext(trusted, options, JSON.stringify([rest, clientFingerprint]));
  return { ...connection, tls: { ...connection.tls, secureContext } };
}

/** Authorities that the definition names: certificates of its organisation. A missing one fails the API. */
function loadAuthorities(
  { transport, identity }: ConnectionModel,
  certificates: Pick<CertificateCache, 'get'>,
): string[] {
  return transport.caCertificates.map(id => {
    const certificate = certificates.get(identity.orgId, id);
    if (!certificate?.x509)
      throw new ApiCompileError(
        `the certificate ${id} of ssl_ca_certificates is not in the certificate store, or is a bare public key`,
      );
    return certificate.pem;
  });
}

function combineAuthorities(installed: AuthoritySet, own: readonly string[], isOwnOnly: boolean): AuthoritySet {
  if (isOwnOnly && own.length === 0)
    throw new ApiCompileError('ssl_ca_certificates_only is set, and ssl_ca_certificates names no certificate');
  if (isOwnOnly) return createAuthoritySet(own, false);
  return own.length === 0
    ? installed
    : createAuthoritySet([...installed.certificates, ...own], installed.includesSystem);
}

/** Hashes the options without private keys; the fingerprint stands for a certificate. */
function withPoolKey(
  connection: UpstreamConnectionOptions,
  identityParts: readonly unknown[] = [],
): UpstreamConnectionOptions {
  const { cert: _cert, key: _key, secureContext: _context, ...tls } = connection.tls;
  const text = JSON.stringify([tls, connection.proxy?.href, connection.policy.key, ...identityParts]);
  return { ...connection, poolKey: createHash('sha256').update(text).digest('hex') };
}

const versions: Readonly<Record<string, SecureVersion>> = {
  '1.0': 'TLSv1',
  '1.1': 'TLSv1.1',
  '1.2': 'TLSv1.2',
  '1.3': 'TLSv1.3',
};

function transportOptions({
  transport,
}: ConnectionModel): Pick<UpstreamConnectionOptions, 'tls' | 'proxy'> | undefined {
  const { insecureSkipVerify, ciphers, minVersion, maxVersion, proxyUrl } = transport;
  if (minVersion && maxVersion && minVersion > maxVersion)
    throw new ApiCompileError(`the minimum TLS version ${minVersion} is above the maximum ${maxVersion}`);
  const tls: UpstreamTlsOptions = {
    ...(insecureSkipVerify ? { rejectUnauthorized: false } : {}),
    ...(minVersion ? { minVersion: versions[minVersion]! } : {}),
    ...(maxVersion ? { maxVersion: versions[maxVersion]! } : {}),
    // Lowers the minimum with the maximum, since the default minimum is newer than some maxima.
    ...(maxVersion && !minVersion && maxVersion < '1.2' ? { minVersion: versions[maxVersion]! } : {}),
    ...(ciphers.length > 0 ? { ciphers: toOpenSslCiphers(ciphers) } : {}),
  };
  if (Object.keys(tls).length === 0 && proxyUrl === '') return undefined;
  return { tls, proxy: proxyUrl === '' ? undefined : parseProxyUrl(proxyUrl) };
}

function parseProxyUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url) throw new ApiCompileError(`the forward proxy ${JSON.stringify(text)} is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ApiCompileError(`the forward proxy scheme ${url.protocol.slice(0, -1)} is not supported`);
  return url;
}

/**
 * Client certificates (mTLS), each with its private key; a missing one fails the API, since the upstream could not
 * authenticate the gateway.
 */
function loadClientCertificates({ mutualTls, identity }: ConnectionModel, certificates: Pick<CertificateCache, 'get'>) {
  if (!mutualTls.enabled) return undefined;
  const entries = Object.entries(mutualTls.certificates).map(([pattern, id]) => {
    const certificate = certificates.get(identity.orgId, id);
    if (!certificate?.privateKey)
      throw new ApiCompileError(`the upstream certificate ${id} is not in the certificate store with its private key`);
    return [pattern, certificate] as const;
  });
  return normalizeHostPatterns<StoredCertificate>(Object.fromEntries(entries));
}

function loadPinnedKeys(
  { certificatePinning, identity }: ConnectionModel,
  certificates: Pick<CertificateCache, 'get'>,
) {
  if (!certificatePinning.enabled) return undefined;
  const entries = Object.entries(certificatePinning.publicKeys).map(([pattern, ids]) => {
    const keys = ids.map(id => {
      const certificate = certificates.get(identity.orgId, id);
      if (!certificate) throw new ApiCompileError(`the pinned public key ${id} is not in the certificate store`);
      return certificate.publicKeyHash();
    });
    return [pattern, new Set(keys)] as const;
  });
  return normalizeHostPatterns<ReadonlySet<string>>(Object.fromEntries(entries));
}

const createIdentityError = (message: string) => createUpstreamError('identity', message);

/** Longer than any real chain. */
const maxChainLength = 10;

/**
 * Certificate pinning: the key of the upstream or of a CA that signed it. CA verification is off, so every signature of
 * the chain is verified here: a pinned certificate merely sent along proves nothing.
 */
const createPinVerifier = (pinned: ReadonlySet<string>) => (socket: TLSSocket) => {
  let certificate = socket.getPeerX509Certificate();
  for (let depth = 0; certificate && depth < maxChainLength; depth++) {
    if (pinned.has(hashPublicKey(certificate))) return undefined;
    const issuer: X509Certificate | undefined = certificate.issuerCertificate;
    if (!issuer || issuer.fingerprint256 === certificate.fingerprint256) break;
    if (!certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) break;
    certificate = issuer;
  }
  return createIdentityError('the upstream certificate has none of the pinned public keys');
};

function verifyCommonName(socket: TLSSocket, host: string): Error | undefined {
  const { subject } = socket.getPeerCertificate();
  const name = String(subject?.CN ?? '').toLowerCase();
  return name === host.toLowerCase()
    ? undefined
    : createIdentityError('the common name of the upstream certificate is not the host name');
}

/** SHA-256 of the SPKI, hexadecimal. */
const hashPublicKey = (certificate: X509Certificate): string =>
  createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
