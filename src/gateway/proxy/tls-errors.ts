import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** TLS handshake with an upstream that failed; the message has the fault of the certificate, its subject and dates. */
export class TlsHandshakeError extends Error {
  readonly code: string;

  constructor(message: string, code: string, cause: Error) {
    super(message, { cause });
    this.code = code;
  }
}

/** Bound of a text that the upstream chose. */
const maxNameCharacters = 160;
/** Longer than any real chain. */
const maxChainLength = 10;

/** OpenSSL and Node errors of the handshake itself. */
const handshakeCodes = /^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/;

const timeoutCode = 'UND_ERR_CONNECT_TIMEOUT';

/**
 * Records the peer certificate of a handshake before Node verifies it and closes the socket; the returned function
 * describes the error of a failed one by it. Other errors of connecting are returned unchanged.
 */
export function watchHandshake(socket: Socket, host: string): (error: Error) => Error {
  let certificate: X509Certificate | undefined;
  socket.prependOnceListener('secure', () => {
    certificate = (socket as TLSSocket).getPeerX509Certificate();
  });
  return error => toHandshakeError(error, certificate, host);
}

function toHandshakeError(error: Error, certificate: X509Certificate | undefined, host: string): Error {
  const { code = '', message } = error as { code?: string; message: string };
  if (code === timeoutCode) return error;
  if (certificate)
    return new TlsHandshakeError(describeCertificateFault(code, message, certificate, host), code, error);
  if (handshakeCodes.test(code)) return new TlsHandshakeError(describeOpenSslError(error), code, error);
  if (code === 'ECONNRESET')
    return new TlsHandshakeError('the upstream closed the connection during the TLS handshake', code, error);
  return error;
}

/** Reason that OpenSSL gives, without its source lines. */
export function describeOpenSslError(error: Error): string {
  const { reason } = error as { reason?: unknown };
  return `TLS failed: ${typeof reason === 'string' && reason !== '' ? reason : error.message}`;
}

function describeCertificateFault(code: string, message: string, leaf: X509Certificate, host: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED': {
      // Of the chain, the first to expire has expired.
      const expired = listChain(leaf).reduce((one, other) =>
        toIsoDay(other.validTo) < toIsoDay(one.validTo) ? other : one,
      );
      return `certificate has expired (${formatSubject(expired)}, valid until ${toIsoDay(expired.validTo)})`;
    }
    case 'CERT_NOT_YET_VALID': {
      const future = listChain(leaf).reduce((one, other) =>
        toIsoDay(other.validFrom) > toIsoDay(one.validFrom) ? other : one,
      );
      return `certificate is not yet valid (${formatSubject(future)}, valid from ${toIsoDay(future.validFrom)})`;
    }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `certificate is not for the host ${host} (${formatSubject(leaf)}, names: ${formatHosts(leaf)})`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return `certificate is self-signed (${formatSubject(leaf)}, ${formatDates(leaf)})`;
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return (
        `certificate is of an unknown authority (${formatSubject(leaf)}, ` +
        `issuer ${formatParty(leaf.issuer)}, ${formatDates(leaf)})`
      );
    default:
      return `certificate refused: ${message} (${formatSubject(leaf)}, ${formatDates(leaf)})`;
  }
}

/** The certificates that the upstream sent, leaf first. */
function listChain(leaf: X509Certificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next: X509Certificate | undefined = leaf;
  while (next && chain.length < maxChainLength) {
    chain.push(next);
    const issuer: X509Certificate | undefined = next.issuerCertificate;
    if (issuer?.fingerprint256 === next.fingerprint256) break;
    next = issuer;
  }
  return chain;
}

const truncate = (text: string) => (text.length > maxNameCharacters ? `${text.slice(0, maxNameCharacters)}…` : text);

/** Distinguished name in one line; some certificates have none. */
const formatParty = (name: string | undefined) => truncate((name ?? '').split('\n').join(', ')) || 'without a name';
const formatSubject = ({ subject }: X509Certificate) => formatParty(subject);
const formatHosts = ({ subjectAltName }: X509Certificate) => truncate(subjectAltName ?? '') || 'none';
const formatDates = ({ validFrom, validTo }: X509Certificate) => `valid ${toIsoDay(validFrom)} to ${toIsoDay(validTo)}`;

/** Day of a time as OpenSSL prints it, such as `Jan  1 00:00:00 2025 GMT`; comparable as text. */
function toIsoDay(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString().slice(0, 10);
}
