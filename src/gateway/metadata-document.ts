import { answer, jsonAnswer } from './answer.ts';
import type { Route, RouteContext } from './routes.ts';

const usualPath = '.well-known/oauth-protected-resource';

/** Tells clients, before they have a token, where to get one (RFC 9728). */
export function metadataRoutes({ model }: RouteContext): [path: string, route: Route][] {
  const { enabled, wellKnownPath, resource, authorizationServers, scopesSupported } = model.metadataDocument;
  if (!enabled) return [];
  const document = {
    resource,
    authorization_servers: authorizationServers,
    scopes_supported: scopesSupported,
    bearer_methods_supported: ['header'],
  };
  const path = `/${(wellKnownPath || usualPath).replace(/^\//, '')}`;
  const route: Route = ({ method }) =>
    method === 'GET' || method === 'HEAD' ? jsonAnswer(200, document) : answer(405, { Allow: 'GET, HEAD' });
  return [[path, route]];
}
