const countOf = (count: number, one: string) => (count === 1 ? `1 ${one}` : `${count} ${one}s`);

/** Texts of the list of APIs and of the menu of one API; loaded with their pages. */
export const apiListTexts = {
  columns: { calls: 'Calls in 24 h', errors: 'Errors', categories: 'Categories', owners: 'Owners' },
  versions: (count: number) => countOf(count, 'version'),
  owners: (users: number, groups: number) =>
    [...(users > 0 ? [countOf(users, 'user')] : []), ...(groups > 0 ? [countOf(groups, 'group')] : [])].join(', '),
  export: 'Export',
  exportPlain: 'Export plain OpenAPI',
  exportSelected: (count: number) => `Export ${countOf(count, 'API')}`,
} as const;
