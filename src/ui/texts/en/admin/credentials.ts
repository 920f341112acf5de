/** Texts of the list of all credentials. */
export const portalCredentialTexts = {
  title: 'Credentials',
  about: 'Keys of all apps. Their text is never in this list.',
  columns: { app: 'App', access: 'Access', hash: 'Hash', state: 'State', expires: 'Expires', created: 'Created' },
  states: { active: 'Active', expiring: 'Expires in 30 days', expired: 'Expired' },
  anyState: 'All states',
  search: 'Search by app, product, plan or hash',
  emptyTitle: 'There are no credentials',
  emptyAbout: 'An approved access request has one.',
  revoke: 'Revoke',
  revokeAction: (app: string) => `Revoke credential of ${app}`,
  revokeConsequence: 'Its key is refused at once, for good. The app can ask for another one.',
  revoked: (app: string) => `The credential of ${app} was revoked`,
} as const;
