/** Texts about sent requests of the page Try; loaded with it. */
export const triedRequestTexts = {
  last: (count: number) => (count === 1 ? 'Last request' : `Last ${count} requests`),
  about: 'In this window until it is reloaded, without credentials. A request fills the form; it is not sent.',
  timing: 'Timing',
  parts: {
    request: 'Steps before the upstream',
    upstream: 'Upstream',
    response: 'Steps after the upstream',
    total: 'Total',
  },
  sent: 'Sent upstream',
  notSent: 'Nothing was sent: the gateway answered the request itself.',
} as const;
