/** Owner of the sessions of a portal user, apart from the ids of dashboard users. */
export const toSessionOwner = (userId: number): string => `portal:${userId}`;
/** Number of the portal user who owns a session or token; 0, which no user has, for any other owner. */
export const fromSessionOwner = (ownerId: string): number => Number(/^portal:(\d+)$/.exec(ownerId)?.[1] ?? 0);
/** Organisation of the links of portal users to identity providers, apart from those of dashboard users. */
export const linkOrganisation = 'portal';
