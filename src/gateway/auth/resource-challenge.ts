import type { Exchange } from '../pipeline/exchange.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { createBearerChallenge } from './bearer-token.ts';
import { buildGatewayUrl, buildResourceMetadata } from './protected-resource-metadata.ts';

const reads = {
  api: ['metadataDocument'],
  also: { api: ['oauth2', 'document', 'scopeScheme', 'mcp', 'upstream'] },
} as const satisfies StepReads;

const bearerScheme = /(?:^|,)\s*bearer(?:\s|$)/i;
const metadataParameter = /\bresource_metadata\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s,]+)/gi;

/**
 * Clients find the authorization server by the challenge of a 401 response (RFC 9728, section 5.1). An upstream whose
 * metadata are mirrored names its own document: the challenge of its response gets the URL of the gateway.
 */
export const resourceChallengeStep: Step<unknown, typeof reads> = {
  name: 'resource-challenge',
  reads,
  build({ model }) {
    const metadata = buildResourceMetadata(model);
    if (metadata?.fault !== '') return undefined;
    const hasUrl = metadata.isMirrored || /^https?:/i.test(metadata.resource);
    const formatChallenge = createBearerChallenge(model);
    const parameter = (call: Exchange) => `resource_metadata="${buildGatewayUrl(call)}${metadata.path}"`;
    return {
      onRefusal(call, { status, headers }) {
        if (!hasUrl || status !== 401 || headers.all('www-authenticate').some(it => bearerScheme.test(it))) return;
        headers.append('WWW-Authenticate', formatChallenge(call));
      },
      ...(metadata.isMirrored && {
        response(call, { status, headers }) {
          if (status !== 401 && status !== 403) return;
          const challenges = headers.all('www-authenticate');
          if (!challenges.some(it => it.search(metadataParameter) >= 0)) return;
          headers.remove('www-authenticate');
          for (const challenge of challenges)
            headers.append(
              'WWW-Authenticate',
              challenge.replace(metadataParameter, () => parameter(call)),
            );
        },
      }),
    };
  },
};
