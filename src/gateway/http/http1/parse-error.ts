import type { InvalidRequest } from '../request-head.ts';

/** Invalid HTTP/1.1 message. The connection has no further use: where the next message begins is unknown. */
export class Http1ParseError extends Error {
  readonly code = 'GW_HTTP1_INVALID';
  /** Status of the response, where the message is a request. */
  readonly status: number;

  constructor(fault: string, status = 400) {
    super(fault);
    this.status = status;
  }
}

export const toParseError = ({ fault, status }: InvalidRequest): Http1ParseError => new Http1ParseError(fault, status);
