import type { Log } from '#base/log.ts';
import type { Meta } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';
import type { ApiStore } from './store.ts';

/** Set by a migration: `rows` until the rows are sealed, `pages` until freed pages of the file are purged. */
const plainSecretsName = 'apis.plain_secrets';

export interface PlainSecretsServices {
  readonly records: Records;
  readonly meta: Meta;
  readonly apis: Pick<ApiStore, 'lockForWrite' | 'sealPlainRows'>;
}

/**
 * Seals secrets that an earlier release stored in plain text, once. Processes that start together lock: the first one
 * seals, in one transaction. Where purging the file fails because the disk is full, the next start retries.
 */
export async function sealPlainSecrets({ records, meta, apis }: PlainSecretsServices, log: Log): Promise<void> {
  if ((await meta.get(plainSecretsName)) === undefined) return;
  await records.write(async () => {
    await apis.lockForWrite();
    if ((await meta.get(plainSecretsName)) !== 'rows') return;
    const count = await apis.sealPlainRows();
    await meta.set(plainSecretsName, 'pages');
    log.info({ apis: count }, 'secrets inside definitions sealed');
  });
  try {
    await records.purgeFreedPages();
  } catch (error) {
    const reason = (error as Error).message;
    log.warn({ reason }, 'database file may keep secrets in freed pages, retrying at the next start');
    return;
  }
  await meta.remove(plainSecretsName);
}
