import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import { hasQuota, type QuotaUse } from '../../quota-notices/quota-notices.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteServices } from '../page.ts';
import { renderScrollRegion } from '../scroll-region.ts';
import { formatCount, formatMoment } from '../words.ts';
import { readPageQuotas } from './page-use.ts';
import { forecastQuota, type QuotaForecast } from './quota-forecast.ts';
import { describeUsageKey, type UsageFilter } from './usage-filter.ts';

interface LimitedKey {
  readonly credential: StoredCredential;
  readonly request: StoredAccessRequest;
  readonly plan: StoredPlan;
}

/** Keys of a filter under plans with a quota, newest first. */
async function listLimitedKeys({ chosen, credential }: UsageFilter, { portal }: SiteServices): Promise<LimitedKey[]> {
  const live = chosen.filter(it => it.Status === 'approved' && it.DeletedAt === 0);
  const plans = await portal.plans.byIds(live.map(({ PlanID }) => PlanID));
  const limited = new Map(live.filter(it => hasQuota(plans.get(it.PlanID))).map(it => [it.ID, it]));
  return (await portal.credentials.ofRequests([...limited.keys()]))
    .filter(it => !credential || it.ID === credential.ID)
    .map(it => ({ credential: it, request: limited.get(it.AccessRequestID)! }))
    .map(it => ({ ...it, plan: plans.get(it.request.PlanID)! }))
    .toReversed();
}

/** Quotas of the keys of a filter with a forecast; empty where none of them can be read now. */
export async function renderQuotas(filter: UsageFilter, services: SiteServices): Promise<Markup | ''> {
  const keys = await listLimitedKeys(filter, services);
  const quotas = await readPageQuotas(keys, services);
  const known = keys.flatMap(key => {
    const use = quotas.get(key.credential.ID);
    return use ? [{ key, use }] : [];
  });
  if (known.length === 0) return '';
  const nowMs = services.clock.now();
  const rows = known.map(({ key, use }) => renderQuota(key, use, nowMs));
  return html`<section aria-labelledby="quotas"><h2 id="quotas">Quotas</h2>${renderScrollRegion(
    'Quotas of keys',
    html`<table><thead><tr><th scope="col">Key</th><th scope="col" class="number">Used</th>
<th scope="col" class="number">Quota</th><th scope="col">Renews</th><th scope="col">Forecast</th></tr></thead>
<tbody>${rows}</tbody></table>`,
  )}</section>`;
}

function renderQuota({ credential, request, plan }: LimitedKey, use: QuotaUse, nowMs: number): Markup {
  const forecast = forecastQuota(use, plan.QuotaRenewalRate * 1000, credential.CreatedAt, nowMs);
  const isRunning = use.renewsAtMs > 0 && use.used > 0;
  const renewal = isRunning ? formatMoment(use.renewsAtMs) : 'Period starts with the next call';
  return html`<tr><th scope="row">${describeUsageKey(request, credential)}</th>
<td class="number">${formatCount(use.used)}</td><td class="number">${formatCount(use.max)}</td>
<td>${plan.QuotaRenewalRate > 0 ? renewal : 'Never'}</td><td>${describeForecast(forecast)}</td></tr>`;
}

function describeForecast(forecast: QuotaForecast): string {
  if (forecast.state === 'ends') return `At this rate used up on ${formatMoment(forecast.atMs)}`;
  const texts = {
    'used-up': 'Used up',
    lasts: 'Lasts until it renews',
    unused: 'Not used yet',
    unknown: 'Too early to say',
  } as const;
  return texts[forecast.state];
}
