import { type Body, bodyFromBytes, noBody } from './body.ts';
import { HeaderList } from './headers.ts';

/** Response to the client, made by the gateway or received from the upstream. */
export class GatewayResponse {
  status: number;
  readonly headers: HeaderList;
  body: Body;
  /** Error of the gateway, as opposed to one of the upstream. */
  readonly isGatewayError: boolean;
  /** Response steps ran before, as for a cached response. */
  skipsResponseSteps = false;
  /** Message of a refusal, without JSON or XML around it. */
  message = '';

  constructor(status: number, headers: HeaderList, body: Body, isGatewayError = false) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.isGatewayError = isGatewayError;
  }
}

const streamingTypes = /^(?:text\/event-stream|multipart\/x-mixed-replace|application\/grpc)/i;

/** Streaming response: unbounded, or with trailers that matter, so it cannot be buffered. */
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
