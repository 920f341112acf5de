import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { ApiCompileError, type Step, type StepReads } from '../pipeline/step.ts';
import { readCredential, stripBearer, toCredentialSources } from './credential-sources.ts';
import { buildGatewayUrl, buildResourceMetadata, type ResourceMetadataParts } from './protected-resource-metadata.ts';
import { escapeQuotedString } from './quoted-string.ts';

/** The credential sources of the OAuth 2.0 scheme; the Authorization header by default. */
export const getBearerSources = ({ oauth2 }: Pick<Model, 'oauth2'>) =>
  toCredentialSources({
    ...oauth2,
    headerEnabled: oauth2.headerEnabled || !(oauth2.queryEnabled || oauth2.cookieEnabled),
  });

const reads = {
  api: ['oauth2'],
  also: {
    api: ['authentication', 'metadataDocument', 'document', 'scopeScheme', 'securityRequirements', 'mcp', 'upstream'],
  },
} as const satisfies StepReads;

/** Reads the bearer token for scope check and token exchange, before later steps remove it. */
export const bearerTokenStep: Step<unknown, typeof reads> = {
  name: 'bearer',
  reads,
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
      response.headers.append('WWW-Authenticate', formatChallenge(call));
      return response;
    };
    return {
      request(call) {
        // A loop was checked before; its header may now hold the exchanged token.
        if (call.skipsAuth || (call.loopCount > 0 && call.bearerToken !== '') || !usesScheme(call)) return undefined;
        const text = stripBearer(readCredential(sources, call)).trim();
        if (text === '' || /\s/.test(text)) return reject(call, 'bearer_missing');
        // Two tokens may have two holders: the authenticated one must be the one sent upstream.
        if (call.verifiedToken && call.verifiedToken.text !== text) return reject(call, 'bearer_unverified');
        call.bearerToken = text;
        return undefined;
      },
    };
  },
};

/** A request that matched a security requirement without the scheme has no bearer token. */
function createSchemeFilter({
  securityRequirements,
  scopeScheme,
}: Pick<Model, 'securityRequirements' | 'scopeScheme'>): (call: Exchange) => boolean {
  const naming = securityRequirements.map(({ names }) => names.includes(scopeScheme));
  return naming.includes(true) ? call => naming[call.matchedAlternative] ?? true : () => true;
}

/** `WWW-Authenticate` challenge (RFC 6750, section 3) with the metadata URL of RFC 9728. */
export function createBearerChallenge(
  model: ResourceMetadataParts & Pick<Model, 'identity'>,
): (call: Exchange, parts?: Readonly<Record<string, string>>) => string {
  const metadata = buildResourceMetadata(model);
  const base = metadata && /^https?:$/.test(URL.parse(metadata.resource)?.protocol ?? '') ? metadata.resource : '';
  const common: Record<string, string> = base
    ? { resource_metadata: base.replace(/\/$/, '') + metadata!.path }
    : { realm: model.identity.name };
  const always = metadata?.isMirrored
    ? (call: Exchange) => ({ resource_metadata: buildGatewayUrl(call) + metadata.path })
    : () => common;
  return (call, parts = {}) =>
    `Bearer ${Object.entries({ ...parts, ...always(call) })
      .map(([name, value]) => `${name}="${escapeQuotedString(value)}"`)
      .join(', ')}`;
}
