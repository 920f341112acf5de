import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { createClientClaims } from '../http/client-claims.ts';
import { pathRulesOf } from '../http/path.ts';
import { createClientAddressResolver } from '../pipeline/client-address.ts';
import type { ReportInvalidRequest } from '../pipeline/invalid-request.ts';
import { createRequestIds } from '../pipeline/request-id.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';
import { createNativeTransport } from './http1/native-transport.ts';
import { createHttp1Transport } from './http1.ts';
import { createHttp2Transport } from './http2.ts';
import type { TransportOptions } from './transport.ts';

export interface TransportsOptions {
  readonly handler: RequestHandler;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly onInvalidRequest?: ReportInvalidRequest;
}

/** HTTP/1.1 and HTTP/2 transports of a thread, configured from the settings. */
export function createTransports({ handler, settings, clock, log, onInvalidRequest }: TransportsOptions) {
  const options: TransportOptions = {
    handler,
    clock,
    requestIds: createRequestIds(settings),
    onInvalidRequest,
    paths: pathRulesOf(settings),
    clientAddress: createClientAddressResolver(settings['gateway.trusted_proxies']),
    isClientClaim: createClientClaims(settings['gateway.client_claim_headers']),
    limits: {
      maxHeaderBytes: settings['gateway.max_header_bytes'],
      maxHeaders: settings['gateway.max_headers'],
      headersTimeoutMs: settings['gateway.headers_timeout_ms'],
      requestTimeoutMs: settings['gateway.request_timeout_ms'],
      bodyRate: {
        minBytesPerSecond: settings['gateway.min_body_bytes_per_second'],
        windowMs: settings['gateway.min_body_rate_window_ms'],
      },
      keepAliveTimeoutMs: settings['gateway.keep_alive_timeout_ms'],
      writeTimeoutMs: settings['gateway.write_timeout_ms'],
      halfCloseTimeoutMs: settings['gateway.half_close_timeout_ms'],
    },
    webSockets: settings['gateway.websockets'],
    closesAfterResponse: settings['gateway.close_connections'],
    onWriteError: error => log.warn({ reason: error.message }, 'response not writable, sent 500 instead'),
  };
  const http1 = (settings['gateway.http1_engine'] === 'native' ? createNativeTransport : createHttp1Transport)(options);
  const http2 = settings['gateway.http2'] ? createHttp2Transport(options) : undefined;
  return {
    http1,
    http2,
    close() {
      http1.close();
      http2?.close();
    },
  };
}
