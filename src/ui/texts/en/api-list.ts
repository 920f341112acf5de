import { pluralize } from '../pluralize.ts';

/** Texts of the list of APIs and of the menu of one API; loaded with their pages. */
export const apiListTexts = {
  columns: { calls: 'Requests in 24 h', errors: 'Errors', categories: 'Categories', owners: 'Owners' },
  failedTitle: (count: number) => `${pluralize(count, 'API')} failed`,
  failedAbout: 'The others are done. These stay selected.',
  anyKind: 'Any kind',
  kinds: {
    rest: 'HTTP',
    graphql: 'GraphQL',
    udg: 'Data graph',
    subgraph: 'Subgraph',
    supergraph: 'Supergraph',
    tcp: 'TCP',
    internal: 'Internal',
  },
  anyOwner: 'Any owner',
  ownedByMe: { '1': 'Owned by me' },
  versions: (count: number) => pluralize(count, 'version'),
  owners: (users: number, groups: number) =>
    [...(users > 0 ? [pluralize(users, 'user')] : []), ...(groups > 0 ? [pluralize(groups, 'group')] : [])].join(', '),
  export: 'Export',
  exportPlain: 'Export plain OpenAPI',
  exportSelected: (count: number) => `Export ${pluralize(count, 'API')}`,
  duplicate: {
    menu: 'Duplicate',
    title: (name: string) => `Duplicate ${name}`,
    about: 'The copy has an id of its own and the same owners, and no versions, policies or keys.',
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
    about: 'An API with owners is visible to them and to administrators only, unless the operator has turned this off.',
    users: { title: 'Users', searchLabel: 'Find users by e-mail address', empty: 'There are no users.' },
    groups: { title: 'Groups', searchLabel: 'Find groups by name', empty: 'There are no groups.' },
    action: 'Save owners',
    saved: (name: string) => `Owners of ${name} saved`,
  },
} as const;
