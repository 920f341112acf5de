import type { StoredCredential } from '../../credentials/schema.ts';
import { html, type Markup } from '../markup.ts';
import { formatCount, formatMoment } from '../words.ts';
import type { PageUse } from './page-use.ts';

/** Last use and what is left of the quota, as far as it is known. */
export function renderKeyUse({ ID, Credential }: StoredCredential, use: PageUse): Markup | '' {
  const [calls, quota] = [use.calls.get(ID), use.quotas.get(ID)];
  if (Credential === '') return '';
  return html`${calls ? html`<li>Last used ${formatMoment(calls.lastUsedMs)}</li>` : ''}
${
  quota
    ? html`<li>${formatCount(Math.max(0, quota.max - quota.used))} of ${formatCount(quota.max)} calls left${
        quota.renewsAtMs > 0 && quota.used > 0 ? html`, renews ${formatMoment(quota.renewsAtMs)}` : ''
      }</li>`
    : ''
}`;
}
