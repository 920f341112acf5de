import { problems } from '../problems.ts';

export const outboundProblem = problems('outbound', {
  bad_url: { status: 400, message: '"{url}" is not an absolute URL' },
  bad_scheme: { status: 400, message: 'Only http and https URLs can be called, not {scheme}' },
  credentials_in_url: { status: 400, message: 'A URL to call may not hold a user name or password' },
  bad_method: { status: 400, message: 'The method {method} cannot be used for this call' },
  bad_request: { status: 400, message: 'The call to {host} cannot be made: {reason}' },
  refused: { status: 400, message: 'The host {host} cannot be found, or may not be called from here' },
  refused_address: {
    status: 400,
    message: 'Calls to {host} are not allowed: its address {address} is {about}',
  },
  unknown_host: { status: 502, message: 'The host {host} cannot be found' },
  unreachable: { status: 502, message: 'The call to {host} failed: {reason}' },
  too_large: { status: 502, message: 'The answer of {host} is larger than {maxBytes} bytes' },
  undecodable: { status: 502, message: 'The answer of {host} is not what its content-encoding says' },
  too_many_redirects: { status: 502, message: '{host} redirects more than {maxRedirects} times' },
  refused_redirect: { status: 502, message: 'The redirect from {host} is not followed: {reason}' },
  timed_out: { status: 504, message: 'The call to {host} took longer than {timeoutMs} ms' },
  too_busy: { status: 503, message: 'Too many calls to other hosts at the moment' },
  closed: { status: 503, message: 'No more calls to other hosts: the server is shutting down' },
});
