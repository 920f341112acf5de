import { formatPortalTime } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import { readPortalUrl } from '../portal-url.ts';
import type { AccountServices } from './account-services.ts';

/** Period as people say it: minutes below two hours, else hours. */
const formatLifetime = (seconds: number) =>
  seconds < 7200 ? `${Math.floor(seconds / 60)} minutes` : `${Math.floor(seconds / 3600)} hours`;

export const formatLinkExpiry = (settings: Settings): string =>
  `The link works once, within ${formatLifetime(settings['portal.link_ttl_seconds'])}.`;

/** Mails of sign-up and forgotten passwords. Links have the configured base, never the `Host` of a request. */
export async function sendAccountMail(
  kind: 'verify' | 'registered' | 'reset',
  user: { readonly First: string; readonly Last: string; readonly Email: string },
  url: string,
  { portal, settings, clock }: Pick<AccountServices, 'portal' | 'settings' | 'clock'>,
): Promise<void> {
  const base = readPortalUrl(settings);
  const [login_url, forgotten_url] = [`${base}/auth/password/login`, `${base}/auth/password/new`];
  const expires = formatPortalTime(clock.now() + settings['portal.link_ttl_seconds'] * 1000);
  if (kind === 'verify') return portal.sendMail.send('verify', user, { verify_url: url, expires });
  if (kind === 'registered')
    return portal.sendMail.send('account_exists', user, { login_url, reset_password_url: forgotten_url });
  const { First, Last, Email } = user;
  const current_user = { First, Last, Email };
  await portal.sendMail.send('reset_password', user, { reset_password_url: url, login_url, current_user, expires });
}
