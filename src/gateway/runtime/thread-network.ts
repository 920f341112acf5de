import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { createUpstreamPools, type UpstreamPools } from '../proxy/pools.ts';
import { createTlsAcceptor, type TlsAcceptor, type TlsAcceptorOptions } from '../server/tls-acceptor.ts';

/** Upstream pools and TLS of a traffic thread, as the settings have them. */

export const createThreadPools = (settings: Settings): UpstreamPools =>
  createUpstreamPools({
    connectTimeoutMs: settings['upstream.connect_timeout_ms'],
    headersTimeoutMs: settings['upstream.timeout_ms'],
    maxConnections: settings['upstream.max_connections'],
    maxStreams: settings['upstream.max_streams'],
    maxWaiting: settings['upstream.max_queued_requests'],
    waitTimeoutMs: settings['upstream.queue_timeout_ms'],
    maxSharePercent: settings['upstream.max_share_percent'],
    headLimits: {
      maxHeaderBytes: settings['upstream.max_response_header_bytes'],
      maxHeaders: settings['upstream.max_response_headers'],
    },
    prereadBytes: settings['upstream.body_preread_bytes'],
    maxPrereadBytes: settings['upstream.body_preread_total_bytes'],
    http2: settings['upstream.http2'],
    http1Engine: settings['gateway.http1_engine'],
  });

export const createThreadTls = (
  settings: Settings,
  log: Log,
  sni: Pick<TlsAcceptorOptions, 'identity' | 'requestsClientCertificates'>,
): TlsAcceptor =>
  createTlsAcceptor({
    certificateFile: settings['gateway.tls.certificate_file'],
    keyFile: settings['gateway.tls.key_file'],
    minVersion: settings['gateway.tls.min_version'],
    http2: settings['gateway.http2'],
    handshakeTimeoutMs: settings['gateway.headers_timeout_ms'],
    onReloadError: error => log.error({ reason: error.message }, 'TLS certificate not reloaded'),
    onReload: () => log.info({}, 'TLS certificate reloaded'),
    ...sni,
  });
