import { sealPlainSecrets } from '#apis/api/plain-secrets.ts';
import type { Log } from '#base/log.ts';
import type { PasswordCost } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';
import { bootstrap, type InstallationCredentials, isAccessKeyIgnored } from '#people/installation/bootstrap.ts';
import { writeFirstCredentials } from '#people/installation/credentials-file.ts';
import { bootstrapPortal } from '#portal/bootstrap.ts';
import type { DataDirectory } from '#storage/data-directory.ts';
import type { Records } from '#storage/records.ts';
import type { openStores } from './stores.ts';

interface SeedTarget {
  readonly directory: DataDirectory;
  readonly records: Records;
  readonly services: ReturnType<typeof openStores>;
}

interface SeedEnvironment {
  readonly log: Log;
  readonly passwordCost?: PasswordCost | undefined;
}

/** Seeds the database: sealed secrets, first credentials, portal defaults. */
export async function seedDatabase(
  installation: SeedTarget,
  settings: Settings,
  { log, passwordCost }: SeedEnvironment,
): Promise<InstallationCredentials | undefined> {
  const { services } = installation;
  await sealPlainSecrets(services, log);
  const onBootstrapWait = () => log.info('database has no organisation, waiting for another process to create one');
  const credentials = await writeFirstCredentials(installation, () =>
    bootstrap({ ...services, onBootstrapWait, passwordCost }),
  );
  if (await isAccessKeyIgnored(services))
    log.warn('bootstrap.access_key applies to the first start only, run gw credentials --rotate to use a changed one');
  await bootstrapPortal(services);
  await services.audit.removeOlderThan(settings['audit.retention_days']);
  return credentials;
}
