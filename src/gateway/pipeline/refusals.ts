import { escapeMarkup } from '#base/escape-markup.ts';
import { parseMediaType } from '#base/media-type.ts';
import { plainTextHeaders } from '#base/page-guard.ts';
import { bodyFromBytes } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { type Refusal, refusalsTable } from './refusals-table.ts';
import type { StepServices } from './step-services.ts';

export type RefusalCode = keyof typeof refusalsTable;
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

/** A version or an endpoint that nobody may have. Handlers of the event hear what the caller hears as its reason. */
export function refuseAccess(
  { emitEvent }: Pick<StepServices, 'emitEvent'>,
  call: Exchange,
  code: RefusalCode,
): GatewayResponse {
  const { event, message } = refusals[code];
  emitEvent(event!, call, 'Attempted access to disallowed version / path.', { key: '', reason: message });
  return refuse(call, code);
}

/** In plain text, like everything that is said before a call has an API, or by what stands in front of many. */
export function refuseAsText(call: Exchange, code: RefusalCode): GatewayResponse {
  const { status, message } = refusals[code];
  call.errorCode = code;
  const headers = new HeaderList(Object.entries(plainTextHeaders).flat());
  const response = new GatewayResponse(status, headers, bodyFromBytes(Buffer.from(message)), true);
  response.message = message;
  return response;
}

/** The answer itself, for refusals whose status or words come from a definition. */
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

/** In the caller's own notation: XML for those who sent XML, JSON for everybody else. */
function renderMessage(call: Exchange, message: string): [type: string, body: string] {
  const requestType = call.headers.get('content-type');
  if (xmlTypes.has(parseMediaType(requestType))) {
    return [requestType!, `<?xml version="1.0" encoding="UTF-8"?>\n<error>${escapeMarkup(message)}</error>`];
  }
  return ['application/json', `{\n    "error": ${JSON.stringify(message)}\n}`];
}
