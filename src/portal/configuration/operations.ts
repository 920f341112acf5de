import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { GeneralSetting, listGeneralSettings } from './general-settings.ts';
import type { StoredSettings } from './stored-settings.ts';

/** Replaces a secret that is set. */
const mask = '********';

const Config = z.object({
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

const toConfig = (settings: Settings, storedSettings: StoredSettings): z.output<typeof Config> => ({
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

export const listConfigs = operation({
  surface: 'portal',
  noun: 'configuration',
  permission: 'secret',
  name: 'listConfigs',
  method: 'GET',
  path: '/portal-api/configs',
  about: 'Returns the configuration of the portal, without secrets.',
  returns: z.array(Config),
  async handle(_call, { storedSettings }: { storedSettings: StoredSettings }) {
    return [toConfig(storedSettings.settings, storedSettings)];
  },
});

export const portalConfigOperations = [listConfigs];
