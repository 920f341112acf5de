/** What a change of a policy is known by, among the changes traffic hears of. */
export const policyChangeName = (orgId: string, id: string): string => `${orgId}/${id}`;
