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
    full: 'You have 50 examples of all APIs: delete one, or replace one of this API by its name.',
    tooLong: {
      path: 'The path is too long to be saved: at most 2,000 characters.',
      headers: 'The headers are too long to be saved: at most 8,000 characters.',
      body: 'The body is too long to be saved: at most 8,000 characters.',
      all: 'Your examples and other preferences are too long together: delete an example first.',
    },
  },
  sent: 'Sent upstream',
  notSent: 'Nothing was sent: the gateway answered the request itself.',
} as const;
