import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { addToDefaultAuthorities } from '#base/authority-file.ts';
import { loadUndici } from '#base/lazy-packages.ts';
import { problem } from './problems.ts';

export interface ClientTls {
  /** Authorities besides the well-known ones. */
  readonly caFile?: string | undefined;
  /** Client certificate and its key, for a control interface that requires one. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Certificate of the gateway on this machine: trusted by itself, whatever names it has. */
  readonly localCertificateFile?: string | undefined;
}

/** `fetch` with the authorities and the client certificate of the command; the global one without any of them. */
export function createClientFetch(tls: ClientTls): typeof fetch {
  const { caFile, certificateFile, keyFile, localCertificateFile } = tls;
  if (!certificateFile !== !keyFile) throw problem.client_certificate_incomplete();
  if (!caFile && !certificateFile && !localCertificateFile) return fetch;
  const { Agent, fetch: send } = loadUndici();
  const authorities = caFile ? { ca: addToDefaultAuthorities(readPem(caFile)) } : {};
  const client = certificateFile && keyFile ? { cert: readPem(certificateFile), key: readPem(keyFile) } : {};
  const trust = localCertificateFile ? trustOnly(readPem(localCertificateFile)) : authorities;
  const dispatcher = new Agent({ connect: { ...trust, ...client } });
  return ((input: string, init: object) => send(input, { ...init, dispatcher })) as unknown as typeof fetch;
}

/** The first certificate of the file is the server's own; those after it may have signed others. */
const trustOnly = (pem: string) => ({
  ca: new X509Certificate(pem).toString(),
  allowPartialTrustChain: true,
  checkServerIdentity: () => undefined,
});

function readPem(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw problem.unreadable({ detail: { path, reason: (cause as NodeJS.ErrnoException).code }, cause });
  }
  if (!text.includes('-----BEGIN ')) throw problem.not_pem({ detail: { path } });
  return text;
}
