import { bodyFromBytes } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refusals } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { contentTypeOf, negotiateResponse } from './media-types.ts';

interface ErrorEntry {
  readonly message: string;
}

/** Refusal of a request that is no GraphQL request: `{"error": …}`, or a GraphQL response where one is accepted. */
export function refuseGraphqlRequest(call: Exchange, code: RefusalCode, detail = ''): GatewayResponse {
  const { status, message } = refusals[code];
  const text = message.replace('{detail}', () => detail);
  const mode = negotiateResponse(call.headers.get('accept'));
  const body = mode === 'graphql-response' ? { errors: [{ message: text }] } : { error: text };
  return createRefusal(call, code, status, contentTypeOf(mode), text, body);
}

/** Refusal of a document: `{"errors": […]}`. */
export function refuseDocument(
  call: Exchange,
  code: RefusalCode,
  errors: readonly ErrorEntry[],
  statuses: 'negotiated' | '400' = '400',
): GatewayResponse {
  const mode = negotiateResponse(call.headers.get('accept'));
  const status = mode === 'json' && statuses === 'negotiated' ? 200 : refusals[code].status;
  return createRefusal(call, code, status, contentTypeOf(mode), errors[0]?.message ?? '', { errors });
}

function createRefusal(
  call: Exchange,
  code: RefusalCode,
  status: number,
  type: string,
  message: string,
  body: object,
): GatewayResponse {
  call.errorCode = code;
  const headers = new HeaderList(['Content-Type', type]);
  const response = new GatewayResponse(status, headers, bodyFromBytes(Buffer.from(JSON.stringify(body))), true);
  response.message = message;
  return response;
}
