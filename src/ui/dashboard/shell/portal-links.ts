/** Another site: a tab of its own, as it has no way back to the dashboard. */
export const openTab = (url: string): void => void open(url, '_blank', 'noopener');

export const toPortalAdminUrl = (portal: string): string => `${portal.replace(/\/+$/, '')}/admin`;
