import type { Key } from '#access/keys/schema.ts';
import { toLatin1 } from '#base/http-syntax.ts';
import { applyKeyPolicies, isRefused } from '../../auth/derived-session.ts';
import { bodyFromBytes, noBody } from '../../http/body.ts';
import { createClientClaims } from '../../http/client-claims.ts';
import { HeaderList } from '../../http/headers.ts';
import { pathRulesOf } from '../../http/path.ts';
import type { InvalidRequest } from '../../http/request-head.ts';
import { GatewayResponse } from '../../http/response.ts';
import { createClientAddressResolver } from '../../pipeline/client-address.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { parsePluginUrl } from '../../plugins/plugin-target.ts';
import { formatHookUrl, listParameters, toCanonicalName } from '../../plugins/request-hook.ts';
import { createExchange } from '../../server/create-exchange.ts';
import type { StepServices } from '../../steps/step-services.ts';
import type { PluginTestOutcome, PluginTestTask } from './schema.ts';

type Write = PluginTestTask['write'];
type Lines = Readonly<Record<string, string | readonly string[]>> | null | undefined;

const clientAddress = '127.0.0.1';
const ignoredHeaders = new Set(['content-length', 'transfer-encoding', 'connection']);

const toFlat = (given: Lines): string[] =>
  Object.entries(given ?? {}).flatMap(([name, values]) => [values].flat().flatMap(value => [name, value]));

const toHeaderList = (given: Lines): HeaderList =>
  new HeaderList(
    toFlat(
      Object.fromEntries(Object.entries(given ?? {}).filter(([name]) => !ignoredHeaders.has(name.toLowerCase()))),
    ).map(toLatin1),
  );

const toBody = (text: string | null | undefined) => (text ? bodyFromBytes(Buffer.from(text)) : noBody());

function formatTarget(request: Write['request']): string {
  const url = request?.URL ?? request?.Path ?? '/';
  const params = new URLSearchParams(
    Object.entries(request?.Params ?? {}).flatMap(([name, values]) => [values].flat().map(value => [name, value])),
  ).toString();
  if (params === '') return toLatin1(url);
  return toLatin1(`${url}${url.includes('?') ? '&' : '?'}${params}`);
}

/** The request of a test as an exchange, or the error of a listener for it. */
export function buildTestedExchange(request: Write['request'], services: StepServices): Exchange | InvalidRequest {
  const { settings, clock } = services;
  const headers = toHeaderList(request?.Headers);
  if (!headers.has('host')) headers.flat.unshift('Host', 'localhost');
  const created = createExchange(
    {
      method: request?.Method ?? 'GET',
      target: request?.RequestURI ? toLatin1(request.RequestURI) : formatTarget(request),
      headers,
      peer: {
        address: clientAddress,
        isTrusted: false,
        isTls: request?.Scheme === 'https',
        serverName: '',
        certificate: undefined,
      },
      mayOmitHost: false,
      body: () => toBody(request?.Body),
    },
    {
      clock,
      paths: pathRulesOf(settings),
      clientAddress: createClientAddressResolver([]),
      isClientClaim: createClientClaims(settings['gateway.client_claim_headers']),
      limits: { maxHeaders: settings['gateway.max_headers'] },
    },
  );
  if ('fault' in created || !request?.RequestURI) return created;
  // A hook sees the URL after rewrites beside the one of the client.
  const target = parsePluginUrl(formatTarget(request), created, false);
  if ('fault' in target) return { status: 400, fault: target.fault };
  created.rewrittenTarget = target;
  return created;
}

export const buildTestedResponse = (response: NonNullable<Write['response']>): GatewayResponse =>
  new GatewayResponse(response.StatusCode ?? 200, toHeaderList(response.Headers), toBody(response.Body));

/** Session of the given members of a key, or why it is refused. Its organisation is that of the test. */
export async function setTestedSession(
  call: Exchange,
  key: Key,
  orgId: string,
  services: StepServices,
): Promise<string | undefined> {
  // The session opens nothing: it needs no access rights.
  const settings = { ...services.settings, 'keys.allow_master_keys': true };
  const applied = await applyKeyPolicies({ ...services, settings }, orgId, 'test', { ...key, org_id: orgId });
  if (isRefused(applied)) return applied.message;
  call.session = applied.session;
  call.keyId = 'test';
  return undefined;
}

function toLists(flat: readonly string[], toName: (name: string) => string): Record<string, string[]> {
  const lists = new Map<string, string[]>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = toName(flat[i]!);
    const values = lists.get(name);
    if (values) values.push(flat[i + 1]!);
    else lists.set(name, [flat[i + 1]!]);
  }
  return Object.fromEntries(lists);
}

export const describeRequest = (call: Exchange): PluginTestOutcome['request_before'] => ({
  Method: call.method,
  URL: (call.rewrittenTarget?.address?.loop ? `gw://${call.rewrittenTarget.address.loop}` : '') + formatHookUrl(call),
  Headers: toLists(call.headers.flat, toCanonicalName),
  Params: toLists(listParameters((call.rewrittenTarget ?? call).query), name => name),
  Body: call.body.bytes?.toString() ?? '',
});

export const describeResponse = ({ status, headers, body }: GatewayResponse) => ({
  StatusCode: status,
  Headers: toLists(headers.flat, toCanonicalName),
  Body: body.bytes?.toString() ?? '',
});
