import { problems } from '../problems.ts';

export const outboundProblem = problems('outbound', {
  bad_url: { status: 400, message: '"{url}" is not an absolute URL' },
  bad_scheme: { status: 400, message: 'Only http and https URLs are allowed, not {scheme}' },
  credentials_in_url: { status: 400, message: 'A URL must not contain a user name or password' },
  bad_method: { status: 400, message: 'The method {method} is not allowed for this request' },
  bad_request: { status: 400, message: 'The request to {host} is invalid: {reason}' },
  refused: { status: 400, message: 'The host {host} cannot be resolved, or requests to it are not allowed' },
  refused_address: {
    status: 400,
    message: 'Requests to {host} are not allowed: its address {address} is {about}',
  },
  unknown_host: { status: 502, message: 'The host {host} cannot be resolved' },
  unreachable: { status: 502, message: 'The request to {host} failed: {reason}' },
  too_large: { status: 502, message: 'The response of {host} is larger than {maxBytes} bytes' },
  undecodable: { status: 502, message: 'The response of {host} does not match its Content-Encoding' },
  too_many_redirects: { status: 502, message: '{host} redirects more than {maxRedirects} times' },
  refused_redirect: { status: 502, message: 'The redirect from {host} is not followed: {reason}' },
  timed_out: { status: 504, message: 'The request to {host} took longer than {timeoutMs} ms' },
  too_busy: { status: 503, message: 'Too many outbound requests at the moment' },
  closed: { status: 503, message: 'No outbound requests: the server is shutting down' },
});

/**
 * Problems of a GET request to an address that a request names. `closed` is none: the client closes after the listeners
 * have sent their responses.
 */
export const addressProblems = [
  outboundProblem.bad_url,
  outboundProblem.bad_scheme,
  outboundProblem.credentials_in_url,
  outboundProblem.refused,
  outboundProblem.refused_address,
  outboundProblem.unknown_host,
  outboundProblem.unreachable,
  outboundProblem.too_large,
  outboundProblem.undecodable,
  outboundProblem.too_many_redirects,
  outboundProblem.refused_redirect,
  outboundProblem.timed_out,
  outboundProblem.too_busy,
];
