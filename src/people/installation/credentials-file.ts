import type { DataDirectory } from '#storage/data-directory.ts';
import type { Records } from '#storage/records.ts';
import type { InstallationCredentials } from './bootstrap.ts';

/** The operator's copy of the installation's credentials. */
export const credentialsFile = 'credentials.json';
/** Marks credentials that no start has displayed yet: the one that made them may have failed to listen. */
const undisplayedFile = 'credentials.undisplayed';

interface CredentialsTarget {
  readonly records: Records;
  readonly directory: DataDirectory;
}

/** Writes the file inside the transaction that stores the credentials: an interruption in between loses nothing. */
export async function writeCredentials(
  { records, directory }: CredentialsTarget,
  create: () => Promise<InstallationCredentials | undefined>,
): Promise<InstallationCredentials | undefined> {
  return records.write(async () => {
    const credentials = await create();
    if (credentials) directory.write(credentialsFile, `${JSON.stringify(credentials, null, 2)}\n`);
    return credentials;
  });
}

/** As `writeCredentials`, at a start. Also returns those of an earlier start until `markDisplayed` is called. */
export async function writeFirstCredentials(
  target: CredentialsTarget,
  create: () => Promise<InstallationCredentials | undefined>,
): Promise<InstallationCredentials | undefined> {
  const { directory } = target;
  const created = await writeCredentials(target, async () => {
    const credentials = await create();
    if (credentials) directory.write(undisplayedFile, '');
    return credentials;
  });
  if (created || directory.read(undisplayedFile) === undefined) return created;
  const text = directory.read(credentialsFile);
  return text === undefined ? undefined : (JSON.parse(text) as InstallationCredentials);
}

export const markDisplayed = (directory: DataDirectory): void => directory.remove(undisplayedFile);

/** Description of each credential, for the banner of the first start. */
export const credentialUses: Readonly<Record<keyof InstallationCredentials, string>> = {
  organisation_id: 'your organisation: org_id of APIs, keys and policies',
  admin_email: 'sign-in of the first administrator at the dashboard',
  admin_password: 'its password; for scripts: POST /api/session',
  admin_access_key: 'Authorization: Bearer …    on /api/*',
  admin_secret: 'Admin-Auth: …              on /admin/*',
  gateway_secret: 'X-Gw-Authorization: …      on /gw/*',
  portal_token: 'Authorization: …           on /portal-api/*',
};
