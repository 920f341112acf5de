/** Error with a code. The codes are those of undici, so that both engines share the refusal codes and the retry rule. */
function createError(code: string, message: string, cause?: Error): NodeJS.ErrnoException {
  return Object.assign(new Error(message, cause ? { cause } : undefined), { code });
}

/** Codes of upstream errors that other modules compare with. */
export const upstreamErrors = {
  socket: 'UND_ERR_SOCKET',
  headersTimeout: 'UND_ERR_HEADERS_TIMEOUT',
  /** Of a timeout in the definition, or of a buffered response. */
  timeout: 'GW_UPSTREAM_TIMEOUT',
  aborted: 'UND_ERR_ABORTED',
  requestInvalid: 'UND_ERR_INVALID_ARG',
  lengthMismatch: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  destroyed: 'UND_ERR_DESTROYED',
  queueFull: 'GW_UPSTREAM_QUEUE_FULL',
  /** The connection ended within a response; never retried. */
  truncated: 'GW_UPSTREAM_TRUNCATED',
  invalidResponse: 'GW_UPSTREAM_INVALID_RESPONSE',
  identity: 'GW_UPSTREAM_IDENTITY',
  proxyRefused: 'GW_FORWARD_PROXY_REFUSED',
} as const;

export const createUpstreamError = (
  kind: keyof typeof upstreamErrors,
  message: string,
  cause?: Error,
): NodeJS.ErrnoException => createError(upstreamErrors[kind], message, cause);
