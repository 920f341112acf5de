import { bodyFromBytes } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import type { RefusalCode } from './refusals-table.ts';

/** Errors of JSON-RPC 2.0 (section 5.1) and of MCP, by refusal. */
const codesByRefusal: Partial<Record<RefusalCode, number>> = {
  rpc_parse_failed: -32700,
  rpc_params_missing: -32602,
  rpc_parameter_missing: -32602,
  rpc_params_invalid: -32602,
  rpc_headers_mismatch: -32020,
};

/** By status, for every other error of the gateway. */
const codesByStatus: Readonly<Record<number, number>> = {
  400: -32600,
  401: -32001,
  403: -32002,
  404: -32601,
  405: -32600,
  429: -32003,
  500: -32603,
  502: -32004,
  503: -32004,
  504: -32004,
};
const otherClientError = -32000;
const otherServerError = -32603;

/** Error of the gateway as a JSON-RPC response: the status and the headers stay, the message becomes that of the error. */
export function toRpcError(call: Exchange, response: GatewayResponse): void {
  const { status } = response;
  const code =
    codesByRefusal[call.errorCode as RefusalCode] ??
    codesByStatus[status] ??
    (status < 500 ? otherClientError : otherServerError);
  const message = response.message || (response.body.bytes?.toString() ?? '');
  const error = JSON.stringify({ code, message, data: { http_code: status } });
  response.headers.set('Content-Type', 'application/json');
  response.body = bodyFromBytes(Buffer.from(`{"jsonrpc":"2.0","error":${error},"id":${call.rpcMessage!.id}}`));
}
