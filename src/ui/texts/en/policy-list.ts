/** Texts of further columns of the list of policies, loaded with it. */
export const policyListTexts = { updated: 'Updated' } as const;
