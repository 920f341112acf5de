/** Where PostgreSQL says that something changed, to every process on the database. */
export const notifyChannel = 'gw_changes';
