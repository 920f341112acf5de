import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { RelyingParty } from '#base/webauthn.ts';
import { readDashboardUrl } from './dashboard-url.ts';

const problem = problems('settings', {
  passkey_origin_invalid: {
    status: 500,
    message:
      'sign_in.passkey_origins: {origin} must be an https origin with a host name, such as https://dashboard.example.org, or one on localhost',
  },
  passkey_rp_id_foreign: {
    status: 500,
    message: 'sign_in.passkey_rp_id: {id} is neither the host of {origin} nor a domain above it',
  },
});

/**
 * Relying party of passkeys: `dashboard.url`, unless the settings name another. Browsers offer passkeys to pages over
 * TLS and on localhost, and for names, not for addresses; undefined where that excludes the dashboard.
 */
export function readRelyingParty(settings: Settings): RelyingParty | undefined {
  const configured = settings['sign_in.passkey_origins'];
  const dashboardUrl = readDashboardUrl(settings);
  const origins = configured.length > 0 ? configured : URL.canParse(dashboardUrl) ? [new URL(dashboardUrl).origin] : [];
  const id = settings['sign_in.passkey_rp_id'] || (origins[0] && URL.parse(origins[0])?.hostname) || '';
  for (const origin of origins) {
    if (configured.length > 0 && !canUsePasskeys(origin)) throw problem.passkey_origin_invalid({ detail: { origin } });
    const { hostname } = new URL(origin);
    if (hostname !== id && !hostname.endsWith(`.${id}`))
      throw problem.passkey_rp_id_foreign({ detail: { id, origin } });
  }
  return origins.length > 0 && origins.every(canUsePasskeys) ? { id, origins } : undefined;
}

const canUsePasskeys = (text: string): boolean => {
  const url = URL.parse(text);
  if (url === null || url.origin !== text) return false;
  const isAddress = /^\[|^[\d.]+$/.test(url.hostname);
  return !isAddress && (url.protocol === 'https:' || /(^|\.)localhost$/.test(url.hostname));
};
