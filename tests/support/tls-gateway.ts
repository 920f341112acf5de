import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MadeCertificate, makeAuthority, makeServerCertificate } from './certificates.ts';

/** A gateway that terminates TLS, and calls of it with client certificates. */
export interface TlsGateway {
  readonly settings: Readonly<Record<string, string>>;
  /** Signs client certificates too. */
  readonly authority: MadeCertificate;
  /** Status of a call, on a connection of its own. */
  call(url: string, client?: MadeCertificate, headers?: Readonly<Record<string, string>>): Promise<number>;
  remove(): void;
}

export function createTlsGateway(): TlsGateway {
  const directory = mkdtempSync(join(tmpdir(), 'gw-tls-'));
  const authority = makeAuthority();
  const { chainPem, keyPem } = makeServerCertificate(authority);
  const files = { certificate: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  writeFileSync(files.certificate, chainPem);
  writeFileSync(files.key, keyPem);
  return {
    settings: {
      'gateway.tls.enabled': 'true',
      'gateway.tls.certificate_file': files.certificate,
      'gateway.tls.key_file': files.key,
    },
    authority,
    call: (url, client, headers = {}) =>
      new Promise((resolve, reject) => {
        const shown = client ? { cert: client.chainPem, key: client.keyPem } : {};
        const sent = request(url, { ca: authority.certPem, agent: false, headers, ...shown }, response => {
          response.resume().once('end', () => resolve(response.statusCode!));
        });
        sent.once('error', reject).end();
      }),
    remove: () => rmSync(directory, { recursive: true }),
  };
}
