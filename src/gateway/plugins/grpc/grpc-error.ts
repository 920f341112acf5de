export type GrpcFailure = 'unavailable' | 'timeout' | 'status' | 'size' | 'protocol' | 'overload';

/** A call that returned no message; `reason` is the `type` of the log line, the message is for operators. */
export class GrpcError extends Error {
  readonly reason: GrpcFailure;

  constructor(reason: GrpcFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}
