import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext, type SecureContextOptions } from 'node:tls';
import { readFileStamp } from '#base/file-stamp.ts';
import { Lru } from '#base/lru.ts';
import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';

export const problem = problems('upstream_authorities', {
  unreadable: { status: 500, message: 'upstream.ca_certificates cannot be used: {reason}' },
  certificates_missing: { status: 500, message: 'upstream.ca_mode: replace needs upstream.ca_certificates' },
});

/** Certificate authorities that certificates of upstreams are verified with. */
export interface AuthoritySet {
  /** Equal for equal sets: connections are pooled under it. Empty for the authorities of the system alone. */
  readonly key: string;
  /** PEM. */
  readonly certificates: readonly string[];
  /** True for the authorities of the system as well. */
  readonly includesSystem: boolean;
}

/** Authorities of the installation. */
export interface UpstreamAuthorities {
  /** The same object until the file changes. */
  current(): AuthoritySet;
  /** True where `current` may change. */
  readonly isReloadable: boolean;
  /** Reads the file again when it has changed. */
  refresh(): void;
}

/** Bounds of the setting. */
const maxPemBytes = 4_194_304;
const maxAuthorities = 1000;

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

export function createAuthoritySet(certificates: readonly string[], includesSystem: boolean): AuthoritySet {
  if (certificates.length === 0 && includesSystem) return systemSet;
  const hash = createHash('sha256').update(`${includesSystem}\n`);
  for (const pem of certificates) hash.update(pem);
  return { key: hash.digest('hex'), certificates, includesSystem };
}

const systemSet: AuthoritySet = { key: '', certificates: [], includesSystem: true };

export const systemAuthorities: UpstreamAuthorities = {
  current: () => systemSet,
  isReloadable: false,
  refresh: () => undefined,
};

type AuthoritySettings = Pick<Settings, 'upstream.ca_certificates' | 'upstream.ca_mode'>;

/** Authorities of `upstream.ca_certificates`. Throws where they cannot be used at the start; later the last ones stay. */
export function createUpstreamAuthorities(
  settings: AuthoritySettings,
  onReloadError: (error: Error) => void,
): UpstreamAuthorities {
  const source = settings['upstream.ca_certificates'].trim();
  const includesSystem = settings['upstream.ca_mode'] === 'add';
  if (source === '' && !includesSystem) throw problem.certificates_missing();
  if (source === '') return systemAuthorities;
  if (source.startsWith('-----BEGIN')) {
    const set = createAuthoritySet(parseAuthorities(source), includesSystem);
    return { ...systemAuthorities, current: () => set };
  }
  let stamp = readFileStamp(source);
  let set = createAuthoritySet(readAuthorities(source), includesSystem);
  return {
    current: () => set,
    isReloadable: true,
    refresh() {
      const now = readFileStamp(source);
      if (now === stamp) return;
      stamp = now;
      try {
        const read = createAuthoritySet(readAuthorities(source), includesSystem);
        if (read.key !== set.key) set = read;
      } catch (error) {
        onReloadError(error as Error);
      }
    },
  };
}

function readAuthorities(file: string): string[] {
  let bytes: Buffer;
  try {
    if (statSync(file).size > maxPemBytes) throw new Error(`${file} is larger than ${maxPemBytes} bytes`);
    bytes = readFileSync(file);
  } catch (error) {
    throw problem.unreadable({ detail: { reason: (error as Error).message } });
  }
  return parseAuthorities(bytes.toString('latin1'));
}

function parseAuthorities(text: string): string[] {
  const blocks = text.match(pemBlock) ?? [];
  if (blocks.length === 0) throw problem.unreadable({ detail: { reason: 'it has no certificate in PEM' } });
  if (blocks.length > maxAuthorities)
    throw problem.unreadable({ detail: { reason: `it has more than ${maxAuthorities} certificates` } });
  return blocks.map((pem, at) => {
    try {
      return new X509Certificate(pem).toString();
    } catch (error) {
      throw problem.unreadable({ detail: { reason: `certificate ${at + 1}: ${(error as Error).message}` } });
    }
  });
}

/** Contexts per thread that are shared by APIs with equal options. */
const maxCachedContexts = 200;
const contexts = new Lru<string, SecureContext>(maxCachedContexts);

/** TLS context with the authorities; `optionsKey` is equal for equal options. Built once: parsing takes milliseconds. */
export function getAuthorityContext(
  set: AuthoritySet,
  options: SecureContextOptions,
  optionsKey: string,
): SecureContext {
  const key = `${set.key} ${optionsKey}`;
  let context = contexts.get(key);
  if (!context) {
    context = createAuthorityContext(set, options);
    contexts.set(key, context);
  }
  return context;
}

function createAuthorityContext({ certificates, includesSystem }: AuthoritySet, options: SecureContextOptions) {
  if (!includesSystem) return createSecureContext({ ...options, ca: [...certificates] });
  const context = createSecureContext(options);
  const { addCACert } = context.context as { addCACert?: (pem: string) => void };
  // Shares the parsed authorities of the system, where a list with them takes a megabyte and parses each again.
  if (addCACert) for (const pem of certificates) addCACert.call(context.context, pem);
  else return createSecureContext({ ...options, ca: [...getCACertificates('default'), ...certificates] });
  return context;
}
