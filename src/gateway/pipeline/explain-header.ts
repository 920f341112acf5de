/** Requests an explanation of the response; its value is the gateway secret, so it is never forwarded. */
export const explainHeader = 'x-gw-explain';
