/** NOTIFY channel for committed changes, to every process on the database. */
export const notifyChannel = 'gw_changes';
