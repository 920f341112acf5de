import type { OutboundClient } from '#base/http-client/client.ts';
import type { Model } from '#definition/model.ts';
import type { ConnectionOptionsFor } from '../proxy/connection-options.ts';
import { maxTestMs } from '../proxy/host-status.ts';
import { runTcpCheck } from './tcp-check.ts';

/** One uptime check of a definition: an HTTP request or a TCP exchange. */
export type UptimeCheck = Model['uptimeTests']['tests'][number];

export interface UptimeCheckResult {
  readonly passed: boolean;
  /** 0 without a response. */
  readonly status: number;
  readonly latencyMs: number;
  /** Why there was no response; empty with one. */
  readonly failure: string;
}

export interface HostCheck {
  /** Stable name: the check keeps its failure count when other parts of the definition change. */
  readonly name: string;
  /** Without user info and query, which may be secrets. */
  readonly displayUrl: string;
  readonly method: string;
  readonly headerNames: readonly string[];
  /** The address of the host, with its scheme. */
  readonly origin: string;
  run(): Promise<UptimeCheckResult>;
}

/** Timeout of a check that sets none. */
const defaultTimeoutMs = 5000;
const maxResponseBytes = 1024 * 1024;

interface HostCheckServices {
  readonly outbound: OutboundClient;
  readonly connectionOptionsFor: ConnectionOptionsFor;
}

/** Undefined for an invalid check. */
export function createHostCheck(check: UptimeCheck, services: HostCheckServices): HostCheck | undefined {
  const isTcp = /^(?:tcp|tls)$/i.test(check.protocol) || /^(?:tcp|tls):\/\//i.test(check.url);
  const scheme = check.protocol.toLowerCase() || 'http';
  const url = URL.parse(check.url.includes('://') ? check.url : `${scheme}://${check.url}`);
  if (!url || url.hostname === '' || (isTcp && url.port === '')) return undefined;
  if (!isTcp && !/^https?:$/.test(url.protocol)) return undefined;
  const method = isTcp ? '' : check.method.toUpperCase() || 'GET';
  const attempt = isTcp ? createTcpAttempt(check, url, services) : createHttpAttempt(check, url, method, services);
  return {
    name: JSON.stringify([url.href, method]),
    displayUrl: `${url.protocol}//${url.host}${url.pathname}`,
    method,
    headerNames: Object.keys(check.headers),
    origin: `${url.protocol}//${url.host}`,
    run: () => measure(attempt),
  };
}

const readTimeoutMs = ({ timeoutMs }: UptimeCheck) => Math.min(timeoutMs > 0 ? timeoutMs : defaultTimeoutMs, maxTestMs);

async function measure(attempt: () => Promise<number>): Promise<UptimeCheckResult> {
  const startedAt = performance.now();
  const readElapsedMs = () => Math.round(performance.now() - startedAt);
  try {
    const status = await attempt();
    return { passed: status === 200, status, latencyMs: readElapsedMs(), failure: '' };
  } catch (error) {
    // Network failures are results; these two types are bugs.
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    return { passed: false, status: 0, latencyMs: readElapsedMs(), failure: (error as Error).message };
  }
}

function createHttpAttempt(
  check: UptimeCheck,
  url: URL,
  method: string,
  { outbound, connectionOptionsFor }: HostCheckServices,
) {
  const { policy, tls: linkTls } = connectionOptionsFor({ origin: url.origin });
  const { cert, key, rejectUnauthorized, secureContext } = linkTls;
  const tls = {
    ...(cert && key ? { cert, key } : {}),
    ...(secureContext ? { secureContext } : {}),
    ...(rejectUnauthorized === false ? { insecure: true } : {}),
  };
  const body = decodeBody(check.body);
  return async () => {
    const { status } = await outbound.fetch({
      url: url.href,
      method,
      headers: check.headers,
      ...(body && !/^(?:GET|HEAD)$/.test(method) ? { body } : {}),
      audience: 'operator',
      policy,
      timeoutMs: readTimeoutMs(check),
      maxBytes: maxResponseBytes,
      ...(Object.keys(tls).length > 0 ? { tls } : {}),
    });
    return status;
  };
}

/** Base64, or plain text where it is not valid base64. */
function decodeBody(text: string): Buffer | undefined {
  if (text === '') return undefined;
  const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  return Buffer.from(text, isBase64 ? 'base64' : 'utf8');
}

function createTcpAttempt(check: UptimeCheck, url: URL, { connectionOptionsFor }: HostCheckServices) {
  const isSecure = check.protocol.toLowerCase() === 'tls' || url.protocol === 'tls:';
  const connection = connectionOptionsFor({ origin: `https://${url.host}` });
  const test = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port),
    isSecure,
    policy: connection.policy,
    tls: isSecure ? connection.tls : {},
    sendsProxyHeader: check.enableProxyProtocol,
    commands: check.commands,
    timeoutMs: readTimeoutMs(check),
  };
  return () => runTcpCheck(test).then(() => 200);
}
