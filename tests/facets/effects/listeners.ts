import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { request as securely } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { DefinitionFormat } from '#definition/facet.ts';
import { call } from '../../hostile/raw.ts';
import { type MadeCertificate, makeAuthority, makeServerCertificate } from '../../support/certificates.ts';
import { freePort } from '../../support/services/server.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Ports and names of one's own. */

const ports = { http: await pair(), tcp: await pair(), proxied: await pair(), https: await pair() };
type Port = keyof typeof ports;
const settings = {
  'gateway.extra_ports': Object.values(ports)
    .flatMap(Object.values<number>)
    .join(','),
};

/** One for each format: the first is still there while the second is tested. */
async function pair(): Promise<Readonly<Record<DefinitionFormat, number>>> {
  return { classic: await freePort(), oas: await freePort() };
}

const listening = (name: Port, protocol: string): Pick<Effect, 'classic' | 'oas'> => ({
  classic: ({ upstream, format }) => ({
    protocol,
    listen_port: ports[name][format],
    proxy: { target_url: targetOf(upstream, protocol) },
  }),
  oas: ({ upstream, format }) => ({
    x: { server: { protocol, port: ports[name][format] }, upstream: { url: targetOf(upstream, protocol) } },
  }),
});
const targetOf = ({ url }: Ground['upstream'], protocol: string) =>
  protocol === 'tcp' ? url.replace('http', 'tcp') : url;

/** Sends raw bytes to a port. */
async function exchangeText(port: number, text: string): Promise<string> {
  const one = await call(port);
  one.send(text);
  await one.closed;
  one.leave();
  return one.received();
}

interface Reply {
  readonly status: number;
  /** The certificate that was shown. */
  readonly fingerprint: string;
}
async function requestHost(at: Served, host: string, secured: boolean): Promise<Reply> {
  const port = secured ? ports.https[at.format] : Number(new URL(at.app.url.gateway).port);
  const options = { host: '127.0.0.1', port, path: `${at.listenPath}/thing`, headers: { host } };
  const asking = secured
    ? securely({ ...options, servername: host, rejectUnauthorized: false, agent: false })
    : request({ ...options, agent: false });
  asking.end();
  const [reply] = (await once(asking, 'response')) as [IncomingMessage];
  const fingerprint = secured ? (reply.socket as TLSSocket).getPeerCertificate().fingerprint256 : '';
  reply.destroy();
  return { status: reply.statusCode!, fingerprint: fingerprint.replaceAll(':', '').toLowerCase() };
}

const authority = makeAuthority();
const shown = new Map<string, MadeCertificate>();
const nameOf = ({ id }: Pick<Ground, 'id'>) => `${id}.example`;
async function certificateOf(at: Ground): Promise<string> {
  const made = makeServerCertificate(authority, { cn: nameOf(at), dnsNames: [nameOf(at)] });
  shown.set(at.id, made);
  const { status, body, text } = await at.app.ask('POST', '/api/certs', { body: made.chainPem + made.keyPem });
  assert.equal(status, 200, text);
  return body.id;
}

export const listeners: readonly Effect[] = [
  {
    rows: 'listen.protocol,port',
    promise: 'an API is served only on its own port',
    settings,
    ...listening('http', 'http'),
    async observe({ call, format, listenPath }) {
      const reply = await fetch(`http://127.0.0.1:${ports.http[format]}${listenPath}/thing`);
      assert.equal(((await reply.json()) as { url: string }).url, '/thing');
      assert.equal((await call()).status, 404);
    },
  },
  {
    rows: 'listen.protocol,port',
    promise: 'TCP bytes pass unchanged through a port',
    settings,
    ...listening('tcp', 'tcp'),
    async observe({ format, upstream }) {
      const text = await exchangeText(ports.tcp[format], 'GET /raw HTTP/1.0\r\nX-Own: mine\r\n\r\n');
      assert.match(text, /^HTTP\/1\.1 200 /);
      assert.deepEqual(upstream.requests.at(-1)!.rawHeaders, ['X-Own', 'mine']);
    },
  },
  {
    rows: 'listen.proxyProtocol',
    promise: 'a PROXY protocol header is removed',
    settings,
    classic: at => ({ ...listening('proxied', 'tcp').classic!(at), enable_proxy_protocol: true }),
    async observe({ format, upstream }) {
      const bytes = 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET /raw HTTP/1.0\r\n\r\n';
      assert.match(await exchangeText(ports.proxied[format], bytes), /^HTTP\/1\.1 200 /);
      assert.equal(upstream.requests.at(-1)!.url, '/raw');
    },
  },
  {
    rows: 'customDomain.enabled,name',
    promise: 'an API is served only at its domain',
    classic: at => ({ domain_disabled: false, domain: nameOf(at) }),
    oas: at => ({ x: { server: { customDomain: { enabled: true, name: nameOf(at) } } } }),
    async observe(at) {
      assert.equal((await requestHost(at, nameOf(at), false)).status, 200);
      assert.equal((await requestHost(at, 'other.example', false)).status, 404);
    },
  },
  {
    rows: 'customDomain.certificates listen.protocol',
    promise: 'an API serves the certificates of its domain',
    settings,
    classic: async at => ({
      ...listening('https', 'https').classic!(at),
      domain: nameOf(at),
      certificates: [await certificateOf(at)],
    }),
    oas: async at => {
      const customDomain = { enabled: true, name: nameOf(at), certificates: [await certificateOf(at)] };
      return { x: { server: { protocol: 'https', port: ports.https[at.format], customDomain } } };
    },
    async observe(at) {
      const { fingerprint } = shown.get(at.id)!;
      assert.deepEqual(await requestHost(at, nameOf(at), true), { status: 200, fingerprint });
    },
  },
];
