import { useOperation } from '../../kit/queries.ts';

const refreshIntervalMs = 30_000;

/** Notifications of the user: APIs that are not served, certificates that expire, dead letters. */
export const useNotifications = (enabled: boolean) =>
  useOperation('GET /api/notifications', { query: {} }, { enabled, refetchIntervalMs: refreshIntervalMs });
