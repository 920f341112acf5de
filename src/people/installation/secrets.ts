import { constantTimeEqual } from '#base/constant-time.ts';
import { createSecretText } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { Meta } from '#storage/meta.ts';

/** Secrets of the installation. A setting fixes one; otherwise it is generated at first start and stored sealed. */
export const installationSecrets = {
  admin: 'admin.secret',
  gateway: 'gateway.secret',
  portal: 'portal.token',
} as const;
export type InstallationSecret = keyof typeof installationSecrets;
export const secretNames = Object.keys(installationSecrets) as InstallationSecret[];

export type InstallationSecrets = ReturnType<typeof createInstallationSecretStore>;

export function createInstallationSecretStore(meta: Meta, vault: Vault, settings: Settings) {
  const metaName = (name: InstallationSecret) => `secret.${name}`;
  const settingOf = (name: InstallationSecret) => settings[installationSecrets[name]];

  async function read(name: InstallationSecret): Promise<string> {
    const setting = settingOf(name);
    if (setting) return setting;
    const sealed = await meta.get(metaName(name));
    return sealed === undefined ? '' : vault.open(sealed, metaName(name));
  }

  return {
    read,
    /** Read from the database on each request, so that a rotation by another process applies at once. */
    async matches(name: InstallationSecret, candidate: string): Promise<boolean> {
      const secret = await read(name);
      return secret !== '' && constantTimeEqual(secret, candidate);
    },
    async renew(name: InstallationSecret): Promise<void> {
      if (!settingOf(name)) await meta.set(metaName(name), vault.seal(createSecretText(), metaName(name)));
    },
  };
}
