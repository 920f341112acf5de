/** Texts of pages about policies. */
export const policyTexts = {
  title: 'Policies',
  list: 'List of policies',
  columns: { name: 'Name', id: 'Id', state: 'State', apis: 'APIs', rate: 'Rate', quota: 'Quota', tags: 'Tags' },
  searchLabel: 'Search policies by name or id',
  search: 'Search by name or id',
  anyState: 'Any state',
  states: { active: 'Active', draft: 'Draft', deny: 'Access denied' } as Readonly<Record<string, string>>,
  emptyTitle: 'No policies yet',
  emptyAbout: 'A policy gives its rights and limits to all keys that name it.',
  perSeconds: (rate: string, per: string) => `${rate} in ${per} s`,
} as const;
