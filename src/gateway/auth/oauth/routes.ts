import { hasDuplicateKeys } from '#base/duplicate-keys.ts';
import { bodyOf, noBody } from '../../http/body.ts';
import { HeaderList } from '../../http/headers.ts';
import { GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { Route, RouteContext } from '../../routing/built-in-routes.ts';
import { toProviderSettings } from './provider-settings.ts';
import { errorReply, statusReply } from './responses.ts';
import type { OauthReply, OauthRoute, Parameters } from './schema.ts';

/** Where clients and login pages come for tokens. They have none yet, so this is no part of the chain. */
interface Place {
  readonly path: string;
  readonly route: OauthRoute;
  readonly methods: readonly string[];
}

const places: readonly Place[] = [
  { path: '/oauth/authorize', route: 'authorize', methods: ['GET', 'POST'] },
  { path: '/gw/oauth/authorize-client', route: 'authorize-client', methods: ['POST'] },
  { path: '/oauth/token', route: 'token', methods: ['GET', 'POST'] },
  { path: '/oauth/revoke', route: 'revoke', methods: ['POST'] },
  { path: '/oauth/revoke_all', route: 'revoke-all', methods: ['POST'] },
];

const formBytes = 65_536;
const answerWithinMs = 15_000;

export function oauthRoutes({ model, services }: RouteContext): [path: string, route: Route][] {
  const { identity } = model;
  const settings = toProviderSettings(model);
  if (!settings) return [];
  const provider = settings;

  async function asked(call: Exchange, { route, methods }: Place): Promise<GatewayResponse> {
    if (!methods.includes(call.method)) return answerOf(statusReply(405, 'Method not supported'), methods);
    const parameters = call.method === 'GET' ? formOf(call.query) : await bodyForm(call);
    try {
      const given = {
        route,
        method: call.method,
        provider,
        parameters,
        query: call.query,
        authorization: call.headers.get('authorization') ?? '',
        gatewaySecret: route === 'authorize-client' ? (call.headers.get('x-gw-authorization') ?? '') : '',
        clientAddress: call.clientAddress,
      };
      return answerOf(await services.rpc('oauth', given, answerWithinMs));
    } catch (error) {
      services.log.error({ api: identity.id, route, reason: (error as Error).message }, 'the OAuth provider failed');
      return answerOf(errorReply(503, { error: 'server_error', description: 'Try again later' }));
    }
  }

  return places.flatMap(place => {
    const route: Route = call => asked(call, place);
    return [
      [place.path, route],
      [`${place.path}/`, route],
    ] as [string, Route][];
  });
}

function answerOf({ status, headers, body }: OauthReply, allow: readonly string[] = []): GatewayResponse {
  const flat = Object.entries(headers).flat();
  if (allow.length > 0) flat.push('Allow', allow.join(', '));
  return new GatewayResponse(status, new HeaderList(flat), body === '' ? noBody() : bodyOf(Buffer.from(body)));
}

async function bodyForm(call: Exchange): Promise<Parameters | undefined> {
  const text = (await call.body.read(formBytes)).toString();
  return call.headers.get('content-type') === 'application/json' ? jsonForm(text) : formOf(text);
}

/** A parameter that comes twice has no meaning: one reader takes the first, another the last. */
function formOf(text: string): Parameters | undefined {
  const pairs = [...new URLSearchParams(text)];
  return new Set(pairs.map(([name]) => name)).size === pairs.length ? Object.fromEntries(pairs) : undefined;
}

function jsonForm(text: string): Parameters | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDuplicateKeys(text)) return undefined;
  const pairs = Object.entries(value);
  return pairs.every(([, it]) => typeof it === 'string') ? (Object.fromEntries(pairs) as Parameters) : undefined;
}
