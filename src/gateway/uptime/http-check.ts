import type { OutboundClient } from '#base/http-client/client.ts';
import type { Model } from '#definition/model.ts';
import type { ConnectionOptionsFor } from '../proxy/connection-options.ts';
import { maxTestMs } from '../proxy/host-status.ts';
import { rawTest } from './tcp-check.ts';

/** One test of a definition: a call, or a talk over a bare connection. */
export type Check = Model['uptimeTests']['tests'][number];

export interface TestResult {
  readonly passed: boolean;
  /** 0 where no answer came, or none was to come. */
  readonly status: number;
  readonly latencyMs: number;
  /** Why there was no answer; empty where there was one. */
  readonly failure: string;
}

export interface HostTest {
  /** What names it: the same test after a change of other things is the same test. */
  readonly name: string;
  /** Without what could be a secret. */
  readonly shownUrl: string;
  readonly method: string;
  readonly headerNames: readonly string[];
  /** The address of the host, with its scheme. */
  readonly origin: string;
  run(): Promise<TestResult>;
}

/** How long a test may take that does not say so itself. */
const usualMs = 5000;
const answerBytes = 1024 * 1024;

interface TestTools {
  readonly outbound: OutboundClient;
  readonly links: ConnectionOptionsFor;
}

/** Undefined for a test of which nobody can tell what it is. */
export function hostTest(check: Check, services: TestTools): HostTest | undefined {
  const isBare = /^(?:tcp|tls)$/i.test(check.protocol) || /^(?:tcp|tls):\/\//i.test(check.url);
  const scheme = check.protocol.toLowerCase() || 'http';
  const url = URL.parse(check.url.includes('://') ? check.url : `${scheme}://${check.url}`);
  if (!url || url.hostname === '' || (isBare && url.port === '')) return undefined;
  if (!isBare && !/^https?:$/.test(url.protocol)) return undefined;
  const method = isBare ? '' : check.method.toUpperCase() || 'GET';
  const attempt = isBare ? bareAttempt(check, url, services) : callAttempt(check, url, method, services);
  return {
    name: JSON.stringify([url.href, method]),
    shownUrl: `${url.protocol}//${url.host}${url.pathname}`,
    method,
    headerNames: Object.keys(check.headers),
    origin: `${url.protocol}//${url.host}`,
    run: () => measured(attempt),
  };
}

const withinMs = ({ timeoutMs }: Check) => Math.min(timeoutMs > 0 ? timeoutMs : usualMs, maxTestMs);

async function measured(attempt: () => Promise<number>): Promise<TestResult> {
  const begun = performance.now();
  const took = () => Math.round(performance.now() - begun);
  try {
    const status = await attempt();
    return { passed: status === 200, status, latencyMs: took(), failure: '' };
  } catch (error) {
    // What a connection or the other side does wrong has a code, or is one of our own words.
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    return { passed: false, status: 0, latencyMs: took(), failure: (error as Error).message };
  }
}

function callAttempt(check: Check, url: URL, method: string, { outbound, links }: TestTools) {
  const { policy, tls: linkTls } = links({ origin: url.origin });
  const { cert, key, rejectUnauthorized } = linkTls;
  const tls = { ...(cert && key ? { cert, key } : {}), ...(rejectUnauthorized === false ? { insecure: true } : {}) };
  const body = bodyOf(check.body);
  return async () => {
    const { status } = await outbound.fetch({
      url: url.href,
      method,
      headers: check.headers,
      ...(body && !/^(?:GET|HEAD)$/.test(method) ? { body } : {}),
      audience: 'operator',
      policy,
      timeoutMs: withinMs(check),
      maxBytes: answerBytes,
      ...(Object.keys(tls).length > 0 ? { tls } : {}),
    });
    return status;
  };
}

/** Written in base64; those who wrote it plainly are understood as well. */
function bodyOf(text: string): Buffer | undefined {
  if (text === '') return undefined;
  const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  return Buffer.from(text, isBase64 ? 'base64' : 'utf8');
}

function bareAttempt(check: Check, url: URL, { links }: TestTools) {
  const isSecure = check.protocol.toLowerCase() === 'tls' || url.protocol === 'tls:';
  const connection = links({ origin: `https://${url.host}` });
  const test = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port),
    isSecure,
    policy: connection.policy,
    tls: isSecure ? connection.tls : {},
    saysOrigin: check.enableProxyProtocol,
    commands: check.commands,
    withinMs: withinMs(check),
  };
  return () => rawTest(test).then(() => 200);
}
