/** Sent by whoever wants to know why, with the gateway secret. It never goes on to anybody. */
export const explainHeader = 'x-gw-explain';
