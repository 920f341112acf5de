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
  examples: {
    title: 'Examples',
    about: 'Requests that you saved for this API, without credentials. One fills the form; all are sent with its key.',
    name: 'Name of this request',
    save: 'Save as example',
    remove: (name: string) => `Delete example ${name}`,
    runAll: (count: number) => (count === 1 ? 'Run the example' : `Run all ${count} examples`),
    full: 'You have 50 examples: delete one to save another.',
  },
  sent: 'Sent upstream',
  notSent: 'Nothing was sent: the gateway answered the request itself.',
} as const;
