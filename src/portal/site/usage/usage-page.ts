import { formatIsoTime } from '#base/clock.ts';
import { csvType, formatCsv } from '#operations/csv.ts';
import { listPageApps } from '../apps/own-apps.ts';
import { html, type Markup } from '../markup.ts';
import {
  cataloguePath,
  type SiteFile,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  usagePath,
} from '../page.ts';
import { formatCalls, formatCount, formatDay } from '../words.ts';
import { type AppUsage, type AppUsageCount, readAppUsage } from './app-usage.ts';

const ranges = [7, 30, 90] as const;
const chart = { width: 720, height: 160, gap: 2 } as const;

/** Usage of the apps and days of a query; undefined for an app that is not visible. */
export async function findUsage({ query, visitor }: SiteRequest, services: SiteServices) {
  const apps = await listPageApps(visitor, services);
  const chosen = query('app') ? apps.filter(({ ID }) => String(ID) === query('app')) : apps;
  if (query('app') && chosen.length === 0) return undefined;
  const days = ranges.find(it => String(it) === query('days')) ?? ranges[0];
  return { apps, days, usage: await readAppUsage(chosen, days, services) };
}

const toCsvUrl = (app: string, days: number) =>
  `${usagePath}?${new URLSearchParams({ app, days: String(days), format: 'csv' })}`;

/** Days of a report as CSV, in UTC. */
const toCsvFile = ({ days }: AppUsage): SiteFile => ({
  file: formatCsv(
    ['day', 'calls', 'errors', 'mean_ms'],
    days.map(it => [formatIsoTime(it.dayMs).slice(0, 10), it.calls, it.errors, Math.round(it.meanMs * 10) / 10]),
  ),
  type: csvType,
});

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findUsage(request, services);
  if (!found) return undefined;
  if (request.query('format') === 'csv') return toCsvFile(found.usage);
  const { apps, days, usage } = found;
  const { query } = request;
  return {
    title: 'Analytics',
    section: 'apps',
    main: html`<div class="head"><h1>Usage</h1></div><form class="filters" method="get" action="${usagePath}">
<label>App <select name="app"><option value="">All apps</option>${apps.map(
      ({ ID, Name }) =>
        html`<option value="${ID}"${query('app') === String(ID) ? html` selected` : ''}>${Name}</option>`,
    )}</select></label><label>Range <select name="days">${ranges.map(
      it => html`<option value="${it}"${it === days ? html` selected` : ''}>${it} days</option>`,
    )}</select></label><button class="secondary">Show</button></form>
${usage.total.calls === 0 ? renderNoCalls() : renderUsage(usage, days)}
<p><a href="${toCsvUrl(query('app'), days)}"
 download="usage.csv">Download as CSV</a></p>`,
  };
}

const renderNoCalls = () =>
  html`<div class="notice"><p>No calls in this time. Send the key of an app in the header <code>Authorization</code>;
calls appear here within a minute.</p><p><a href="${cataloguePath}">Choose a product</a></p></div>`;

const formatShare = ({ calls, errors }: AppUsageCount) => `${((100 * errors) / calls).toFixed(1)} %`;
const formatMs = (ms: number) => `${formatCount(Math.round(ms * 10) / 10)} ms`;

const renderPercentiles = ({ percentiles }: AppUsage): Markup | '' =>
  percentiles
    ? html`<li>50 % of calls within ${formatMs(percentiles.p50)}, 95 % within ${formatMs(percentiles.p95)}, 99 % within
${formatMs(percentiles.p99)}</li>`
    : '';

/** Comparison with the period before. */
function describeChange({ total, before }: AppUsage, days: number): string {
  if (before.calls === 0) return `No calls in the ${days} days before`;
  const percent = Math.round((100 * (total.calls - before.calls)) / before.calls);
  const change = percent === 0 ? 'As many' : `${formatCount(Math.abs(percent))} % ${percent > 0 ? 'more' : 'fewer'}`;
  const errors = `${formatShare(before)} errors in that period`;
  return `${change} calls ${percent === 0 ? 'as' : 'than'} in the ${days} days before (${errors})`;
}

const renderUsage = (usage: AppUsage, days: number): Markup =>
  html`<ul class="facts"><li>${formatCalls(usage.total.calls)}</li>
<li>${formatCount(usage.total.errors)} errors (${formatShare(usage.total)})</li>
<li>${formatMs(usage.total.meanMs)} on average</li>${renderPercentiles(usage)}
<li>${describeChange(usage, days)}</li></ul>
<section aria-labelledby="by-day"><h2 id="by-day">Calls by day</h2>${renderChart(usage, days)}
${renderTable(
  'Day (UTC)',
  usage.days.filter(({ calls }) => calls > 0).map(it => ({ ...it, name: formatDay(it.dayMs) })),
)}</section>
<section aria-labelledby="by-api"><h2 id="by-api">Calls by API</h2>${renderTable('API', usage.apis)}</section>`;

/** Bars of calls with errors at their foot; the table below has the same numbers. */
function renderChart({ days, total }: AppUsage, count: number): Markup {
  const most = Math.max(...days.map(({ calls }) => calls));
  const step = chart.width / count;
  const toHeight = (value: number) => (value / most) * chart.height;
  const renderBar = (place: number, value: number, kind: string) =>
    html`<rect class="${kind}" x="${(place * step).toFixed(1)}" y="${(chart.height - toHeight(value)).toFixed(1)}"
 width="${(step - chart.gap).toFixed(1)}" height="${toHeight(value).toFixed(1)}"></rect>`;
  return html`<svg class="chart" viewBox="0 0 ${chart.width} ${chart.height}" role="img"
 aria-label="${`${formatCalls(total.calls)} in ${count} days, at most ${formatCount(most)} a day`}">
${days.map(({ calls, errors }, place) => [renderBar(place, calls, 'bar'), renderBar(place, errors, 'bar error')])}</svg>`;
}

const renderTable = (label: string, rows: readonly (AppUsageCount & { readonly name: string })[]) =>
  html`<table><thead><tr><th scope="col">${label}</th><th scope="col" class="number">Calls</th>
<th scope="col" class="number">Errors</th>
<th scope="col" class="number">Average</th></tr></thead><tbody>${rows.map(
    it => html`<tr><th scope="row">${it.name}</th><td class="number">${formatCount(it.calls)}</td>
<td class="number">${formatCount(it.errors)}</td>
<td class="number">${formatMs(it.meanMs)}</td></tr>`,
  )}</tbody></table>`;

export const usagePages: readonly SitePage[] = [{ method: 'GET', path: usagePath, access: 'user', respond }];
