import { z } from 'zod';
import { describeSetting, findSettingSource, maskSettings, type SettingName, type Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';

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
    .array(
      z.object({
        Name: z.string(),
        Value: z.union([z.string(), z.number(), z.boolean()]),
        Source: z.enum(['default', 'file', 'environment', 'flag']),
        About: z.string(),
      }),
    )
    .describe('Settings of the portal in effect, with secrets masked, and where each comes from'),
});

const listPortalSettings = (settings: Settings) =>
  Object.entries(maskSettings(settings))
    .filter(([name]) => name.startsWith('portal.'))
    .map(([key, value]) => {
      const name = key as SettingName;
      const Value = typeof value === 'number' || typeof value === 'boolean' ? value : String(value);
      return { Name: name, Value, Source: findSettingSource(settings, name), About: describeSetting(name).about };
    });

const toConfig = (settings: Settings): z.output<typeof Config> => ({
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
  General: listPortalSettings(settings),
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
  async handle(_call, { settings }: Pick<PortalServices, 'settings'>) {
    return [toConfig(settings)];
  },
});

export const portalConfigOperations = [listConfigs];
