import { escapeMarkup } from '#base/escape-markup.ts';
import { parseMediaType } from '#base/media-type.ts';
import { plainTextHeaders } from '#base/page-guard.ts';
import { bodyFromBytes } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import type { RefusalCode } from './refusals-table.ts';
import { type Refusal, refusalsTable } from './refusals-table.ts';
import type { PipelineServices } from './services.ts';

export const refusals: Readonly<Record<RefusalCode, Refusal>> = refusalsTable;

export function refuse(
  call: Exchange,
  code: RefusalCode,
  detail?: Readonly<Record<string, string | number>>,
): GatewayResponse {
  const { status, message } = refusals[code];
  const text = detail ? message.replace(/\{(\w+)\}/g, (_whole, name: string) => String(detail[name])) : message;
  call.errorCode = code;
  return refusalResponse(call, status, text);
}

/** Refuses access to a version or endpoint and emits the event, with the message as its reason. */
export function refuseAccess(
  { emitEvent }: Pick<PipelineServices, 'emitEvent'>,
  call: Exchange,
  code: RefusalCode,
): GatewayResponse {
  const { event, message } = refusals[code];
  emitEvent(event!, call, 'Attempted access to disallowed version / path.', { key: '', reason: message });
  return refuse(call, code);
}

/** Refuses in plain text: before routing, or for a whole batch. */
export function refuseAsText(call: Exchange, code: RefusalCode): GatewayResponse {
  const { status, message } = refusals[code];
  call.errorCode = code;
  const headers = new HeaderList(Object.entries(plainTextHeaders).flat());
  const response = new GatewayResponse(status, headers, bodyFromBytes(Buffer.from(message)), true);
  response.message = message;
  return response;
}

/** Error response with a status and message of the definition. */
export function refusalResponse(call: Exchange, status: number, message: string): GatewayResponse {
  const [type, body] = renderMessage(call, message);
  const response = new GatewayResponse(
    status,
    new HeaderList(['Content-Type', type]),
    bodyFromBytes(Buffer.from(body)),
    true,
  );
  response.message = message;
  return response;
}

const xmlTypes = new Set(['application/xml', 'text/xml', 'application/soap+xml']);

/** Content negotiation by request type: XML for XML requests, otherwise JSON. */
function renderMessage(call: Exchange, message: string): [type: string, body: string] {
  const requestType = call.headers.get('content-type');
  if (xmlTypes.has(parseMediaType(requestType))) {
    return [requestType!, `<?xml version="1.0" encoding="UTF-8"?>\n<error>${escapeMarkup(message)}</error>`];
  }
  return ['application/json', `{\n    "error": ${JSON.stringify(message)}\n}`];
}
