/** Owner of the sessions of a portal user, apart from the ids of dashboard users. */
export const toSessionOwner = (userId: number): string => `portal:${userId}`;
