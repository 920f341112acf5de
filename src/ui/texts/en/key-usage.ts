/** Texts of the usage and tags of keys in their list, loaded with it. */
export const keyUsageTexts = {
  tagFilter: 'Tag',
  lastUsed: 'Last used',
  unused: 'not in 30 days',
  calls: 'Requests, 24 h',
} as const;
