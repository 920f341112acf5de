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
  duplicate: {
    menu: 'Duplicate',
    title: (name: string) => `Duplicate ${name}`,
    about: 'The copy has an id of its own, and no versions, policies or keys.',
    nameOf: (name: string) => `${name} copy`,
    action: 'Create copy',
  },
  categories: {
    menu: 'Categories',
    title: (name: string) => `Categories of ${name}`,
    about: 'Lists are filtered by them.',
    label: 'Categories',
    help: 'One in each line.',
    action: 'Save categories',
    saved: (name: string) => `Categories of ${name} saved`,
  },
  access: {
    menu: 'Owners',
    title: (name: string) => `Owners of ${name}`,
    about: 'Where apis.owners_only is set, an API with owners exists for them and for administrators alone.',
    users: { title: 'Users', searchLabel: 'Find users by e-mail address', empty: 'There are no users.' },
    groups: { title: 'Groups', searchLabel: 'Find groups by name', empty: 'There are no groups.' },
    action: 'Save owners',
    saved: (name: string) => `Owners of ${name} saved`,
  },
} as const;
