import type { Mailer } from '#base/mailer.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { MailQueue } from '#people/sessions/mail-queue.ts';
import type { ResetLimit } from '#people/sessions/reset-operations.ts';
import type { SignInTokenStore } from '#people/sessions/token-store.ts';
import type { PortalServices } from '../portal-stores.ts';

/** Services of sign-up and forgotten passwords. */
export interface AccountServices extends Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'> {
  vault: Vault;
  signInTokens: SignInTokenStore;
  mailer: Mailer;
  /** Apart from that of the dashboard, whose mails a flood of the public site must not drop. */
  portalMailQueue: MailQueue;
  /** Mails that visitors can cause, by client and by recipient. */
  portalMailLimit: ResetLimit;
}

/** Addresses are confirmed by mail: without a mail server there is no sign-up, nor on a hidden portal. */
export const canSignUp = ({ settings, mailer }: { settings: Settings; mailer: Mailer }): boolean =>
  settings['portal.registration'] !== 'off' && settings['portal.visibility'] !== 'hidden' && mailer.isConfigured;
