/** Owner of the sessions of a portal user, apart from the ids of dashboard users. */
export const toSessionOwner = (userId: number): string => `portal:${userId}`;
/** Organisation of the links of portal users to identity providers, apart from those of dashboard users. */
export const linkOrganisation = 'portal';
