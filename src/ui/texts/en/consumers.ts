import { pluralize } from '../pluralize.ts';

/** Texts of the consumers of an API. */
export const consumerTexts = {
  list: 'Consumers',
  kind: 'Kind',
  kinds: {
    apis: 'API',
    policies: 'Policy',
    keys: 'Key',
    'oauth clients': 'OAuth client',
  } as Readonly<Record<string, string>>,
  name: 'Name',
  id: 'Id',
  emptyTitle: 'No consumers',
  emptyAbout: 'No policy, key, OAuth client or other API names this API.',
  shown: (shown: number, total: number) =>
    shown === total ? pluralize(total, 'object') : `${shown} of ${pluralize(total, 'object')}`,
  keyCount: 'Keys that may call it',
} as const;
