/** Texts of the client certificates of all apps. */
export const portalCertificateTexts = {
  title: 'Certificates',
  about: 'Client certificates of apps. Owners get a mail before one that is in use expires.',
  columns: {
    name: 'Certificate',
    app: 'App',
    owner: 'Owner',
    fingerprint: 'SHA-256',
    state: 'State',
    expires: 'Expires',
    uses: 'Credentials',
  },
  states: {
    valid: 'Valid',
    expiring: 'Expires in 30 days',
    expired: 'Expired',
    'not valid yet': 'Not valid yet',
  },
  anyState: 'All states',
  search: 'Search by app, name or fingerprint',
  unused: 'Not used',
  emptyTitle: 'There are no client certificates',
  emptyAbout: 'Apps send one with a request for a product whose APIs require client certificates.',
  remove: 'Delete',
  removeAction: (name: string) => `Delete certificate ${name}`,
  removeConsequence: 'The app has to upload it again to use it.',
  removed: (name: string) => `Certificate ${name} was deleted`,
} as const;
