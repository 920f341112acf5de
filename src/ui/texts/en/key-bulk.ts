import { pluralize } from '../pluralize.ts';

/** Texts of changes of many keys at once, loaded with their list. */
export const keyBulkTexts = {
  policies: 'Policies …',
  expiry: 'Extend expiry …',
  policiesTitle: (count: number) => `Policies of ${pluralize(count, 'key')}`,
  policiesAbout: 'Policies decide which APIs a key may call and its limits. Used quota is kept.',
  change: 'Change',
  modes: { add: 'Add to the keys', remove: 'Remove from the keys' },
  policiesAction: {
    add: (count: number) => `Apply to ${pluralize(count, 'key')}`,
    remove: (count: number) => `Remove from ${pluralize(count, 'key')}`,
  },
  expiryTitle: (count: number) => `Extend ${pluralize(count, 'key')}`,
  expiryAbout: 'A key that expires later, or never, stays as it is.',
  until: 'New expiry',
  untilChoices: {
    '30': 'In 30 days',
    '90': 'In 90 days',
    '365': 'In 365 days',
    time: 'At a chosen time',
    never: 'Never',
  },
  time: 'Time',
  timeHelp: 'In the time zone of this browser.',
  expiryAction: (count: number) => `Extend ${pluralize(count, 'key')}`,
  retry: (count: number) => `Try ${pluralize(count, 'failed key')} again`,
  close: 'Close',
  progress: 'Keys done',
  doneOf: (done: number, all: number) => `${done} of ${pluralize(all, 'key')}`,
  results: 'Result of each key',
  changed: 'done',
  failed: 'failed',
} as const;
