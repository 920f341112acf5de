import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { addToDefaultAuthorities } from '#base/authority-file.ts';
import { loadUndici } from '#base/lazy-packages.ts';
import { problem } from './problems.ts';
import { findTlsRejection } from './tls-rejection.ts';

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
  if (!caFile && !certificateFile && !localCertificateFile) return withTlsAlerts(fetch, {});
  const { Agent, fetch: send } = loadUndici();
  const authorities = caFile ? { ca: addToDefaultAuthorities(readPem(caFile)) } : {};
  const client = certificateFile && keyFile ? { cert: readPem(certificateFile), key: readPem(keyFile) } : {};
  const trust = localCertificateFile ? trustOnly(readPem(localCertificateFile)) : authorities;
  const dispatcher = new Agent({ connect: { ...trust, ...client } });
  const sendWithTls = (input: string, init: object) => send(input, { ...init, dispatcher });
  return withTlsAlerts(sendWithTls as unknown as typeof fetch, { ...trust, ...client });
}

/** Codes of a connection that the server closed before its response. */
const closedCodes = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** `fetch` that reports why a server closed the connection, where that was the client certificate. */
const withTlsAlerts =
  (send: typeof fetch, options: ConnectionOptions): typeof fetch =>
  async (input, init) => {
    try {
      return await send(input, init);
    } catch (error) {
      const { code = '' } = ((error as Error).cause ?? {}) as { code?: string };
      const reason = closedCodes.includes(code) ? await findTlsRejection(String(input), options) : undefined;
      const detail = { url: new URL(String(input)).origin, reason };
      if (reason !== undefined && options.cert) throw problem.client_certificate_rejected({ detail });
      if (reason?.includes('CERTIFICATE')) throw problem.client_certificate_missing({ detail });
      throw error;
    }
  };

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
