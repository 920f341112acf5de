/** Requests an explanation; the value is the gateway secret or a token for one request, so it is never forwarded. */
export const explainHeader = 'x-gw-explain';

/** Summary of the explanation, in the response. */
export const explanationHeader = 'X-Gw-Explanation';
