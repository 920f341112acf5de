/** Texts of forms and lists of the admin app. */
export const adminFormTexts = {
  delete: 'Delete',
  search: 'Search by name',
  saved: (name: string) => `${name} was saved`,
} as const;
