import { pluralize } from '../pluralize.ts';

/** Texts of changes of many keys at once, loaded with their list. */
export const keyBulkTexts = {
  policies: 'Policies …',
  expiry: 'Extend expiry …',
  policiesTitle: (count: number) => `Policies of ${pluralize(count, 'key')}`,
  policiesAbout: 'Policies decide which APIs a key may call and its limits. Quotas go on where they are.',
  change: 'Change',
  modes: { add: 'Add to the keys', remove: 'Remove from the keys' },
  policiesAction: {
    add: (count: number) => `Apply to ${pluralize(count, 'key')}`,
    remove: (count: number) => `Remove from ${pluralize(count, 'key')}`,
  },
  expiryTitle: (count: number) => `Extend ${pluralize(count, 'key')}`,
  expiryAbout: 'A key that expires later, or never, stays as it is.',
  until: 'Accepted at least until',
  untilChoices: {
    '30': 'in 30 days',
    '90': 'in 90 days',
    '365': 'in 365 days',
    time: 'a chosen time',
    never: 'no end',
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
