import { hasDuplicateKeys } from '#base/duplicate-keys.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import { bodyFromBytes, noBody } from '../../http/body.ts';
import { HeaderList } from '../../http/headers.ts';
import { GatewayResponse } from '../../http/response.ts';
import type { BuiltInRoute, BuiltInRouteContext } from '../../pipeline/built-in-route.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { AuthServices } from '../services.ts';
import { toProviderSettings } from './provider-settings.ts';
import { createErrorResponse, createStatusResponse } from './responses.ts';
import type { OauthResponse, OauthRoute, Parameters } from './schema.ts';

/** OAuth endpoints. Their clients have no token yet, so they are routes, not part of the chain. */
interface OauthEndpoint {
  readonly path: string;
  readonly route: OauthRoute;
  readonly methods: readonly string[];
}

const endpoints: readonly OauthEndpoint[] = [
  { path: '/oauth/authorize', route: 'authorize', methods: ['GET', 'POST'] },
  { path: '/gw/oauth/authorize-client', route: 'authorize-client', methods: ['POST'] },
  { path: '/oauth/token', route: 'token', methods: ['GET', 'POST'] },
  { path: '/oauth/revoke', route: 'revoke', methods: ['POST'] },
  { path: '/oauth/revoke_all', route: 'revoke-all', methods: ['POST'] },
];

const maxFormBytes = 65_536;
const rpcTimeoutMs = 15_000;

export function createOauthRoutes({
  model,
  services,
}: BuiltInRouteContext<AuthServices>): [path: string, route: BuiltInRoute][] {
  const { identity } = model;
  const settings = toProviderSettings(model);
  if (!settings) return [];
  const provider = settings;

  async function handle(call: Exchange, { route, methods }: OauthEndpoint): Promise<GatewayResponse> {
    if (!methods.includes(call.method)) return toResponse(createStatusResponse(405, 'Method not supported'), methods);
    const parameters = call.method === 'GET' ? parseForm(call.query) : await readBodyForm(call);
    try {
      const request = {
        route,
        method: call.method,
        provider,
        parameters,
        query: call.query,
        authorization: call.headers.get('authorization') ?? '',
        gatewaySecret: route === 'authorize-client' ? (call.headers.get('x-gw-authorization') ?? '') : '',
        clientAddress: call.clientAddress,
      };
      return toResponse(await services.rpc('oauth', request, rpcTimeoutMs));
    } catch (error) {
      services.log.error({ api: identity.id, route, reason: (error as Error).message }, 'OAuth provider failed');
      return toResponse(createErrorResponse(503, { error: 'server_error', description: 'Try again later' }));
    }
  }

  return endpoints.flatMap(place => {
    const route: BuiltInRoute = call => handle(call, place);
    return [
      [place.path, route],
      [`${place.path}/`, route],
    ] as [string, BuiltInRoute][];
  });
}

function toResponse({ status, headers, body }: OauthResponse, allow: readonly string[] = []): GatewayResponse {
  const flat = Object.entries(headers).flat();
  if (allow.length > 0) flat.push('Allow', allow.join(', '));
  return new GatewayResponse(status, new HeaderList(flat), body === '' ? noBody() : bodyFromBytes(Buffer.from(body)));
}

async function readBodyForm(call: Exchange): Promise<Parameters | undefined> {
  const text = (await call.body.read(maxFormBytes)).toString();
  return call.headers.get('content-type') === 'application/json' ? parseJsonForm(text) : parseForm(text);
}

/** Repeated parameters are refused (RFC 6749, section 3.1): parsers differ in which one they take. */
function parseForm(text: string): Parameters | undefined {
  const pairs = [...new URLSearchParams(text)];
  return new Set(pairs.map(([name]) => name)).size === pairs.length ? Object.fromEntries(pairs) : undefined;
}

function parseJsonForm(text: string): Parameters | undefined {
  const value = tryParseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDuplicateKeys(text)) return undefined;
  const pairs = Object.entries(value);
  return pairs.every(([, it]) => typeof it === 'string') ? (Object.fromEntries(pairs) as Parameters) : undefined;
}
