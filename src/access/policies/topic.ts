/** Name of a policy in the change log. */
export const policyChangeName = (orgId: string, id: string): string => `${orgId}/${id}`;
