import { isObject } from '#base/json-tree.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import { noBytes, problem } from '../http/body.ts';
import { type GatewayResponse, isStreaming } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { removeStaleHeaders } from '../transform/body-transform.ts';
import {
  ContentCodingError,
  decodeContent,
  decompressionBounds,
  isEncoded,
  supportedCodings,
} from '../transform/content-coding.ts';
import { maskErrors } from './mask-errors.ts';

type Services = Pick<PipelineServices, 'log' | 'settings'>;

const reads = { api: ['graphql'] } as const satisfies StepReads;

/** Errors of GraphQL responses: error bodies of the upstream as extensions, and masked messages. */
export const graphqlResponseStep: Step<Services, typeof reads> = {
  name: 'graphql-response',
  reads,
  build({ model: { graphql }, services: { settings, log } }) {
    if (!graphql.enabled || !(graphql.onErrorForwarding || graphql.maskErrors)) return undefined;
    const bounds = decompressionBounds(settings);
    const maxValues = settings['gateway.max_body_values'];
    const isRead = (response: GatewayResponse) =>
      response.status !== 101 && response.status !== 204 && (graphql.maskErrors || response.status >= 400);

    const change = (call: Exchange, response: GatewayResponse, bytes: Buffer | undefined): void => {
      const read = bytes && parseStrictJson(bytes, maxValues);
      const value = read && 'value' in read ? read.value : undefined;
      if (graphql.maskErrors) {
        const masked = maskErrors(value, response.status);
        if (!masked) return;
        log.warn({ api: call.api?.id, status: response.status }, 'GraphQL errors of the upstream masked');
        return replaceBody(response, masked);
      }
      const extensions = isObject(value) ? value : { body: value ?? bytes?.toString() ?? '' };
      replaceBody(response, {
        errors: [{ message: `the upstream responded with status ${response.status}`, extensions }],
      });
    };
    return {
      request({ headers }) {
        if (headers.has('accept-encoding')) headers.set('Accept-Encoding', supportedCodings);
        return undefined;
      },
      // A stream cannot be read as a whole: with masking its body is replaced, unread.
      buffersResponse: (_call, response) => isRead(response) && !isStreaming(response),
      response(call, response) {
        if (!isRead(response)) return;
        // Events of a data graph are masked one by one.
        if (isStreaming(response) && call.graphqlRequests) return undefined;
        if (isStreaming(response)) return graphql.maskErrors ? change(call, response, undefined) : undefined;
        const bytes = response.body.bytes ?? noBytes;
        const coding = response.headers.get('content-encoding');
        if (!isEncoded(coding)) return change(call, response, bytes);
        return decodeContent(bytes, coding, bounds).then(
          decoded => change(call, response, decoded),
          (error: unknown) => {
            const isTooLarge = (error as { code?: string }).code === problem.too_large.code;
            if (!isTooLarge && !(error instanceof ContentCodingError)) throw error;
            change(call, response, undefined);
          },
        );
      },
    };
  },
};

function replaceBody(response: GatewayResponse, value: unknown): void {
  response.body.replace(Buffer.from(JSON.stringify(value)));
  removeStaleHeaders(response.headers);
  response.headers.remove('etag');
  response.headers.set('Content-Type', 'application/json');
}
