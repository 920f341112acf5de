import type { Settings } from '#base/settings.ts';
import type { SurfaceName } from './surfaces.ts';

export interface ManagementListener {
  readonly name: 'dashboard' | 'portal' | 'control';
  readonly host: string;
  readonly port: number;
  readonly setting: string;
  readonly surfaces: readonly SurfaceName[];
}

/** Selects the management listeners of a role. */
export function selectManagementListeners(settings: Settings): ManagementListener[] {
  const dashboard = {
    name: 'dashboard',
    host: settings['dashboard.host'],
    port: settings['dashboard.port'],
    setting: 'GW_DASHBOARD_PORT',
    surfaces: ['dashboard', 'admin', 'gateway'],
  } as const;
  const portal = {
    name: 'portal',
    host: settings['portal.host'],
    port: settings['portal.port'],
    setting: 'GW_PORTAL_PORT',
    surfaces: ['portal'],
  } as const;
  const control = {
    name: 'control',
    host: settings['dashboard.host'],
    port: settings['gateway.control_port'],
    setting: 'GW_GATEWAY_CONTROL_PORT',
    surfaces: ['gateway'],
  } as const;
  const byRole = { all: [dashboard, portal], dashboard: [dashboard], portal: [portal], gateway: [control] };
  return byRole[settings.role];
}
