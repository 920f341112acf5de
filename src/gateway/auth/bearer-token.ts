import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refuse } from '../pipeline/refusals.ts';
import { ApiCompileError, type Step } from '../pipeline/step.ts';
import { readCredential, stripBearer, toCredentialSources } from './credential-sources.ts';
import { buildResourceMetadata } from './protected-resource-metadata.ts';
import type { AuthServices } from './services.ts';

/** Where the scheme looks for a token: in the Authorization header where it does not say. */
export const getBearerSources = ({ oauth2 }: Model) =>
  toCredentialSources({
    ...oauth2,
    headerEnabled: oauth2.headerEnabled || !(oauth2.queryEnabled || oauth2.cookieEnabled),
  });

/** Finds the token that scopes are looked for in and that is exchanged, while it is still there. */
export const bearerTokenStep: Step<AuthServices> = {
  name: 'bearer',
  build({ model }) {
    const fault = buildResourceMetadata(model)?.fault;
    if (fault) throw new ApiCompileError(fault);
    const { enabled, scopeCheckEnabled, exchangeEnabled } = model.oauth2;
    if (!enabled || !model.authentication.enabled || !(scopeCheckEnabled || exchangeEnabled)) return undefined;
    const sources = getBearerSources(model);
    const usesScheme = createSchemeFilter(model);
    const formatChallenge = createBearerChallenge(model);
    const reject = (call: Exchange, code: RefusalCode): GatewayResponse => {
      const response = refuse(call, code);
      response.headers.append('WWW-Authenticate', formatChallenge());
      return response;
    };
    return {
      request(call) {
        // A call that comes round again has been looked at; what it carries now may be what its token was exchanged for.
        if (call.skipsAuth || (call.loopCount > 0 && call.bearerToken !== '') || !usesScheme(call)) return undefined;
        const text = stripBearer(readCredential(sources, call)).trim();
        if (text === '' || /\s/.test(text)) return reject(call, 'bearer_missing');
        // Two tokens could be of two callers: who was let in is who calls the upstream.
        if (call.verifiedToken && call.verifiedToken.text !== text) return reject(call, 'bearer_unverified');
        call.bearerToken = text;
        return undefined;
      },
    };
  },
};

/** Whoever came in by an alternative that does not name the scheme has no such token. */
function createSchemeFilter({ alternatives, scopeScheme }: Model): (call: Exchange) => boolean {
  const naming = alternatives.map(({ names }) => names.includes(scopeScheme));
  return naming.includes(true) ? call => naming[call.matchedAlternative] ?? true : () => true;
}

const quoted = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&');

/** What tells clients how to come back: what was wrong, and where they learn about tokens. */
export function createBearerChallenge(model: Model): (parts?: Readonly<Record<string, string>>) => string {
  const metadata = buildResourceMetadata(model);
  const base = metadata && /^https?:$/.test(URL.parse(metadata.resource)?.protocol ?? '') ? metadata.resource : '';
  const always: Record<string, string> = base
    ? { resource_metadata: base.replace(/\/$/, '') + metadata!.path }
    : { realm: model.identity.name };
  return (parts = {}) =>
    `Bearer ${Object.entries({ ...parts, ...always })
      .map(([name, value]) => `${name}="${quoted(value)}"`)
      .join(', ')}`;
}
