import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Log } from '#base/log.ts';
import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import { parseGrpcAddress } from './grpc-address.ts';
import { createGrpcClient, type GrpcClient } from './grpc-client.ts';

export const problem = problems('plugins_grpc', {
  address_invalid: { status: 500, message: 'plugins.grpc.address: must be tcp://host:port or tls://host:port' },
  address_missing: { status: 500, message: '{name}: needs plugins.grpc.address' },
  tls_missing: { status: 500, message: '{name}: needs a plugins.grpc.address that begins with tls://' },
  key_missing: {
    status: 500,
    message: 'plugins.grpc.certificate_file and plugins.grpc.key_file: either both are set, or neither',
  },
  files_unusable: { status: 500, message: 'plugins.grpc: a certificate or key cannot be used: {reason}' },
});

const tlsNames = ['plugins.grpc.ca_file', 'plugins.grpc.certificate_file', 'plugins.grpc.key_file'] as const;

/** Rejects settings that cannot work, or have no effect. */
export function validateGrpcSettings(settings: Settings): void {
  const text = settings['plugins.grpc.address'];
  const address = parseGrpcAddress(text);
  if (text !== '' && !address) throw problem.address_invalid();
  if (!address && settings['plugins.grpc.authority'] !== '')
    throw problem.address_missing({ detail: { name: 'plugins.grpc.authority' } });
  const unused = tlsNames.find(name => settings[name] !== '' && !address?.isTls);
  if (unused) throw problem.tls_missing({ detail: { name: unused } });
  if ((settings['plugins.grpc.certificate_file'] === '') !== (settings['plugins.grpc.key_file'] === ''))
    throw problem.key_missing();
  try {
    const files = readTlsFiles(settings);
    createSecureContext(files);
    // A file without a certificate would be accepted there, and no server.
    if (files.ca) new X509Certificate(files.ca);
  } catch (error) {
    throw problem.files_unusable({ detail: { reason: (error as Error).message }, cause: error });
  }
}

function readTlsFiles(settings: Settings) {
  const [caFile, certificateFile, keyFile] = tlsNames.map(name => settings[name]);
  return {
    ...(caFile ? { ca: readFileSync(caFile) } : undefined),
    ...(certificateFile && keyFile ? { cert: readFileSync(certificateFile), key: readFileSync(keyFile) } : undefined),
  };
}

/** Client of the gRPC server of plugins; undefined without one. */
export function createGrpcPlugins(settings: Settings, log: Log): GrpcClient | undefined {
  const address = parseGrpcAddress(settings['plugins.grpc.address']);
  if (!address) return undefined;
  return createGrpcClient({
    address,
    authority: settings['plugins.grpc.authority'],
    connections: settings['plugins.grpc.connections'],
    timeoutMs: settings['plugins.grpc.timeout_ms'],
    maxSendBytes: settings['plugins.grpc.max_send_bytes'],
    maxReceiveBytes: settings['plugins.grpc.max_receive_bytes'],
    readTls: () => readTlsFiles(settings),
    onConnectionLost: reason => log.warn({ address: address.authority, reason }, 'gRPC plugin server disconnected'),
  });
}
