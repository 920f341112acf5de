import type { InvalidRequest } from '../request-head.ts';

/** Refusals that both HTTP/1.1 engines make: one status and one text for the same fault. */
export const requestFaults = {
  malformed: { status: 400, fault: 'malformed HTTP request' },
  method: { status: 400, fault: 'the method is not supported' },
  codingInHttp10: { status: 400, fault: 'HTTP/1.0 has no Transfer-Encoding' },
  late: { status: 408, fault: 'the request did not arrive in time' },
  extensionsTooLarge: { status: 413, fault: 'the chunk extensions are too large' },
  expectation: { status: 417, fault: 'the Expect header is not supported' },
  headTooLarge: { status: 431, fault: 'the request head is too large' },
  version: { status: 505, fault: 'only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported' },
} as const satisfies Readonly<Record<string, InvalidRequest>>;
