/** Texts of columns, filters and cards that are loaded with their pages. */
export const listColumnTexts = {
  usedBy: 'Used by',
  noApi: 'no API',
  moreApis: (count: number) => `and ${count} more`,
  secondFactor: 'Second factor',
  app: 'App',
  passkeys: (count: number) => (count === 1 ? '1 passkey' : `${count} passkeys`),
  noFactor: 'none',
  anyAuthority: 'CAs and others',
  authorities: { true: 'CAs', false: 'No CAs' },
  usage: 'Usage',
  calls: 'Requests, 24 h',
  lastUse: 'Last use of a token',
  unused: 'not in 30 days',
} as const;
