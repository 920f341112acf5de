import { isUtf8ContentType, parseMediaType } from '#base/media-type.ts';
import { percentDecodeLoosely } from '#base/percent-decode.ts';
import { findToolSource } from '#definition/rest-tools/tool-source.ts';
import { createMcpAccessLists } from '../mcp/access-lists.ts';
import { type EnvelopeError, parseEnvelope } from '../mcp/envelope.ts';
import { createPrimitiveResolver, toRpcMessage } from '../mcp/primitive-names.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import { type RpcMessage, unknownMessage } from '../pipeline/rpc-message.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { isVirtualPath } from '../pipeline/virtual-match.ts';

type Services = Pick<PipelineServices, 'settings'>;

const reads = { api: ['mcp'], also: 'whole definition' } as const satisfies StepReads;

/** JSON-RPC envelope of a request to an MCP proxy: every later step matches methods and primitives by it. */
export const mcpMessageStep: Step<Services, typeof reads> = {
  name: 'mcp-message',
  reads,
  build({ model, version, services }) {
    if (!model.mcp) return undefined;
    const maxBytes = services.settings['gateway.max_buffered_body_bytes'];
    const isToolProxy = findToolSource(model.upstream.url) !== '';
    const resolve = createPrimitiveResolver(model.mcp.paths);
    const { hasRules } = createMcpAccessLists(version.endpoints, model.mcp.paths, resolve);

    function readMessage(call: Exchange, bytes: Buffer): StepResult {
      const envelope = parseEnvelope(bytes);
      if ('code' in envelope) return refuseMessage(call, envelope);
      call.rpcMessage = toRpcMessage(envelope, resolve);
      return agreesWithHeaders(call, call.rpcMessage) ? undefined : refuse(call, 'rpc_headers_mismatch');
    }

    return {
      request(call) {
        call.rpcMessage = undefined;
        if (isToolProxy) call.countedNames = new Set();
        // Refused in every spelling of the path.
        if (isVirtualPath(percentDecodeLoosely(call.innerPath))) return refuse(call, 'mcp_virtual_path');
        // Messages in a tunnel would pass unread; the protocol has no WebSocket transport.
        if (call.upgrade !== '') return refuse(call, 'mcp_websockets_disallowed');
        if (!isMessage(call)) return hasRules && !call.body.isEmpty ? refuse(call, 'rpc_media_type') : undefined;
        call.rpcMessage = unknownMessage;
        if (!isReadable(call)) return refuse(call, 'rpc_media_type');
        const { body } = call;
        if (body.stream === undefined || (canReadNow(body.length, maxBytes) && body.replaceReceived()))
          return readMessage(call, body.bytes ?? Buffer.alloc(0));
        return body.read(maxBytes).then(bytes => readMessage(call, bytes));
      },
    };
  },
};

const canReadNow = (length: number | undefined, maxBytes: number) => length !== undefined && length <= maxBytes;

const isMessage = ({ method, headers }: Exchange) =>
  method === 'POST' && parseMediaType(headers.get('content-type')).startsWith('application/json');

/** One content type, in UTF-8, without a content coding: the upstream reads the same text. */
function isReadable({ headers }: Exchange): boolean {
  const types = headers.all('content-type');
  const coding = headers.get('content-encoding');
  return (
    types.length === 1 && isUtf8ContentType(types[0]!) && (coding === undefined || /^identity$/i.test(coding.trim()))
  );
}

function refuseMessage(call: Exchange, { code, id, parameter }: EnvelopeError): StepResult {
  call.rpcMessage = { ...unknownMessage, id };
  return refuse(call, code, parameter === undefined ? undefined : { name: parameter });
}

const encodedName = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/**
 * Servers may read the method and the primitive from headers (protocol revision 2026-07-28): those must be the ones that
 * the steps check.
 */
function agreesWithHeaders({ headers }: Exchange, { method, primitiveName }: RpcMessage): boolean {
  const methods = headers.all('mcp-method');
  const names = headers.all('mcp-name');
  return (
    methods.every(value => value === method) &&
    names.every(value => primitiveName === '' || decodeName(value) === primitiveName)
  );
}

/** Header values are Latin-1; other names are sent in Base64. */
function decodeName(value: string): string {
  const encoded = encodedName.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}
