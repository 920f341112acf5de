/** Texts of the changelog and the client types of a product. */
export const changelogTexts = {
  title: 'Changelog',
  empty: 'The changelog has no entries.',
  add: 'Add entry',
  editTitle: 'Change entry',
  edit: (headline: string) => `Change ${headline}`,
  remove: (headline: string) => `Delete ${headline}`,
  removeConsequence: 'It disappears from the site. Notifications that were sent stay.',
  save: 'Save entry',
  kind: 'Kind',
  kinds: {
    added: 'Added',
    changed: 'Changed',
    deprecated: 'Deprecated',
    removed: 'Removed',
    fixed: 'Fixed',
  },
  headline: 'Headline',
  version: 'Version',
  text: 'Text',
  textHelp: 'Markdown; the site removes what is not safe.',
  released: 'Time of the release',
  releasedHelp: 'Such as 2030-01-31 12:00; now if it is empty. It cannot change later.',
  notify: 'Notify subscribers',
  newer: 'Newer entries',
  older: 'Older entries',
} as const;

export const productClientTypeTexts = {
  title: 'Client types',
  unused: 'Used with dynamic client registration, which is off: see the details.',
  empty: 'The product has no client types.',
  noProviders: 'There are no OAuth providers, whose client types could be added.',
  provider: 'OAuth provider',
  type: 'Client type',
  add: 'Add client type',
  remove: (name: string) => `Remove client type ${name}`,
} as const;
