import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { defaultOrganisationId } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { formatOptionalTime } from '../shapes.ts';
import { GeneralSetting, listGeneralSettings } from './general-settings.ts';
import type { StoredSettings } from './stored-settings.ts';

/** Replaces a secret that is set. */
const mask = '********';

const Config = z.object({
  Version: z.string().describe('Version of the process that responds'),
  BootstrappedAt: z.string().describe('When the portal was set up, with its first organisation'),
  HostPort: z.int(),
  RefreshInterval: z.int().describe('Minutes between synchronizations of providers; 0 for none'),
  LogLevel: z.string(),
  LogFormat: z.enum(['dev', 'prod']),
  PortalAPISecret: z.string(),
  Storage: z.literal('db'),
  TLSConfig: z.object({ Enable: z.boolean(), MinVersion: z.string() }),
  Database: z.object({ Dialect: z.enum(['sqlite', 'postgres']), ConnectionString: z.string() }),
  Blog: z.object({ Enable: z.boolean(), AllowFormSubmission: z.boolean() }),
  Forms: z.object({ Enable: z.boolean() }),
  General: z
    .array(GeneralSetting)
    .describe('Settings of the portal in effect, with secrets masked, and where each comes from'),
});

const toConfig = (
  settings: Settings,
  storedSettings: StoredSettings,
): Omit<z.output<typeof Config>, 'Version' | 'BootstrappedAt'> => ({
  HostPort: settings['portal.port'],
  // Providers are synchronized on request only.
  RefreshInterval: 0,
  LogLevel: settings['log.level'],
  LogFormat: settings['log.format'] === 'json' ? 'prod' : 'dev',
  PortalAPISecret: mask,
  Storage: 'db',
  TLSConfig: {
    Enable: settings['management.tls.certificate_file'] !== '',
    MinVersion: settings['management.tls.min_version'],
  },
  Database: {
    Dialect: settings['database.url'] === '' ? 'sqlite' : 'postgres',
    ConnectionString: settings['database.url'] === '' ? '' : mask,
  },
  Blog: { Enable: true, AllowFormSubmission: false },
  Forms: { Enable: false },
  General: listGeneralSettings(storedSettings),
});

interface ConfigServices extends Pick<PortalServices, 'portal'> {
  readonly storedSettings: StoredSettings;
  readonly version: string;
}

export const listConfigs = operation({
  surface: 'portal',
  noun: 'configuration',
  permission: 'secret',
  name: 'listConfigs',
  method: 'GET',
  path: '/portal-api/configs',
  about: 'Returns version and configuration of the portal, without secrets.',
  returns: z.array(Config),
  async handle(_call, { storedSettings, version: Version, portal }: ConfigServices) {
    const first = await portal.organisations.get(defaultOrganisationId);
    const facts = { Version, BootstrappedAt: formatOptionalTime(first?.CreatedAt) };
    return [{ ...facts, ...toConfig(storedSettings.settings, storedSettings) }];
  },
});

export const portalConfigOperations = [listConfigs];
