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

/** Texts of the client certificates of an organisation. */
export const organisationCertificateTexts = {
  title: 'Client certificates',
  none: 'None: developers of the organisation send their own with a request.',
  assign: 'Assign certificate',
  about: 'Requests of developers of the organisation use it, for products whose APIs require one; they send none.',
  pem: 'Certificate (PEM)',
  pemHelp: 'The text between BEGIN CERTIFICATE and END CERTIFICATE, without the private key.',
  file: 'or a file with it',
  name: 'Name',
  nameHelp: 'Empty: the subject of the certificate.',
  facts: (until: string, uses: number) =>
    `until ${until}, ${uses === 0 ? 'not used' : uses === 1 ? '1 credential' : `${uses} credentials`}`,
  assigned: (name: string) => `Certificate ${name} was assigned`,
  withdraw: (name: string) => `Withdraw certificate ${name}`,
  withdrawConsequence:
    'New requests no longer use it. Withdrawing is refused while a credential or pending request uses it.',
} as const;
