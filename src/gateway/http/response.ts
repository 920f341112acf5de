import { type Body, bodyFromBytes, noBody } from './body.ts';
import { HeaderList } from './headers.ts';

/** What goes back to the caller: made here, or received from the upstream. */
export class GatewayResponse {
  status: number;
  readonly headers: HeaderList;
  body: Body;
  /** True when the gateway itself refused, so that nobody mistakes it for the upstream's word. */
  readonly isGatewayError: boolean;
  /** True when steps on the way out have seen it already, as with one that was kept. */
  skipsResponseSteps = false;
  /** What a refusal says, without its notation. */
  message = '';

  constructor(status: number, headers: HeaderList, body: Body, isGatewayError = false) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.isGatewayError = isGatewayError;
  }
}

const streamingTypes = /^(?:text\/event-stream|multipart\/x-mixed-replace|application\/grpc)/i;

/** Goes on as long as somebody listens, or ends with trailers that matter: nobody can wait for the whole of it. */
export const isStreaming = ({ headers }: GatewayResponse): boolean =>
  streamingTypes.test(headers.get('content-type') ?? '');

export const createResponse = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): GatewayResponse => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return new GatewayResponse(
    status,
    new HeaderList(Object.entries(headers).flat()),
    bytes.length > 0 ? bodyFromBytes(bytes) : noBody(),
  );
};

export const createJsonResponse = (
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse => createResponse(status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(value));
