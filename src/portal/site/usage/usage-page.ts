import { formatIsoTime } from '#base/clock.ts';
import { csvType, formatCsv } from '#operations/csv.ts';
import { renderFilterSelect } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import {
  cataloguePath,
  type SiteFields,
  type SiteFile,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  usagePath,
} from '../page.ts';
import { formatCalls, formatCount, formatDay } from '../words.ts';
import { type AppUsage, type AppUsageCount, readAppUsage, readUsageDays, type UsageDay } from './app-usage.ts';
import { renderQuotas } from './quota-section.ts';
import { findUsageFilter, listUsageChoices, type UsageChoice, type UsageFilter, usageRanges } from './usage-filter.ts';

const chart = { width: 720, height: 160, gap: 2 } as const;
const filterNames = ['app', 'product', 'credential', 'status', 'days'] as const;
const statusChoices: readonly (readonly [string, string])[] = [
  ['2xx', '2xx (successful)'],
  ['3xx', '3xx (redirects)'],
  ['4xx', '4xx (client errors)'],
  ['5xx', '5xx (server errors)'],
];

/** Usage of the calls that a query selects; undefined where it names what is not visible. */
export async function findUsage(request: SiteRequest, services: SiteServices): Promise<AppUsage | undefined> {
  const filter = await findUsageFilter(request, services);
  return filter && readAppUsage(filter.selection, services);
}

/** Address of the page with the filters of a query, some of them changed. */
function toUsageUrl(query: SiteFields, changed: Readonly<Record<string, string>>): string {
  const values = { ...Object.fromEntries(filterNames.map(name => [name, query(name)])), ...changed };
  return `${usagePath}?${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))}`;
}

/** Days of a report as CSV, in UTC. */
const toCsvFile = (days: readonly UsageDay[]): SiteFile => ({
  file: formatCsv(
    ['day', 'calls', 'errors', 'mean_ms'],
    days.map(it => [formatIsoTime(it.dayMs).slice(0, 10), it.calls, it.errors, Math.round(it.meanMs * 10) / 10]),
  ),
  type: csvType,
});

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { query } = request;
  const filter = await findUsageFilter(request, services);
  if (!filter) return undefined;
  if (query('format') === 'csv') return toCsvFile(await readUsageDays(filter.selection, services));
  const usage = await readAppUsage(filter.selection, services);
  return {
    title: 'Analytics',
    section: 'apps',
    main: html`<div class="head"><h1>Usage</h1></div>${await renderFilters(filter, query, services)}
${usage.total.calls === 0 ? renderNoCalls(filter) : renderUsage(usage, query, filter.selection.days)}
${await renderQuotas(filter, services)}
<p><a href="${toUsageUrl(query, { format: 'csv' })}" download="usage.csv">Download as CSV</a></p>`,
  };
}

type Option = readonly [value: string, text: string];

const toOptions = (all: string, choices: readonly UsageChoice[]): Option[] => [
  ['', all],
  ...choices.map(({ value, text }) => [String(value), text] as const),
];

async function renderFilters(filter: UsageFilter, query: SiteFields, services: SiteServices): Promise<Markup> {
  const { products, credentials } = await listUsageChoices(filter, services);
  const apps = filter.apps.map(({ ID, Name }) => ({ value: ID, text: Name }));
  const status = query('status');
  const isListed = status === '' || statusChoices.some(([value]) => value === status);
  const statuses: Option[] = [['', 'All'], ...statusChoices, ...(isListed ? [] : [[status, status] as const])];
  const ranges = usageRanges.map(it => [String(it), `${it} days`] as const);
  return html`<form class="filters" method="get" action="${usagePath}">
${renderFilterSelect('App', 'app', query('app'), toOptions('All apps', apps))}
${renderFilterSelect('Product', 'product', query('product'), toOptions('All products', products))}
${renderFilterSelect('Key', 'credential', query('credential'), toOptions('All keys', credentials))}
${renderFilterSelect('Status', 'status', status, statuses)}
${renderFilterSelect('Range', 'days', String(filter.selection.days), ranges)}<button class="secondary">Show</button></form>`;
}

/** Without a filter that could hide them, the way to the first call. */
const renderNoCalls = ({ selection, product, credential }: UsageFilter) =>
  product || credential || selection.statuses
    ? html`<div class="notice"><p>No calls match these filters.</p>
<p><a href="${usagePath}?days=${selection.days}">Show all calls</a></p></div>`
    : html`<div class="notice"><p>No calls in this time. Send the key of an app in the header <code>Authorization</code>;
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

const renderUsage = (usage: AppUsage, query: SiteFields, days: number): Markup =>
  html`<ul class="facts"><li>${formatCalls(usage.total.calls)}</li>
<li>${formatCount(usage.total.errors)} errors (${formatShare(usage.total)})</li>
<li>${formatMs(usage.total.meanMs)} on average</li>${renderPercentiles(usage)}
<li>${describeChange(usage, days)}</li></ul>
<section aria-labelledby="by-day"><h2 id="by-day">Calls by day</h2>${renderChart(usage, days)}
${renderTable(
  'Day (UTC)',
  usage.days.filter(({ calls }) => calls > 0).map(it => ({ ...it, name: formatDay(it.dayMs) })),
)}</section>
<section aria-labelledby="by-api"><h2 id="by-api">Calls by API</h2>${renderTable('API', usage.apis)}</section>
<section aria-labelledby="by-status"><h2 id="by-status">Calls by status</h2>${renderTable(
    'Status',
    usage.codes.map(it => ({ ...it, name: renderCode(it.code, query) })),
  )}</section>`;

/** A status code that links to its calls. */
const renderCode = (code: number, query: SiteFields): Markup | string =>
  code >= 100 && code < 600 ? html`<a href="${toUsageUrl(query, { status: String(code) })}">${code}</a>` : String(code);

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
${days.map(({ calls, errors }, place) => [renderBar(place, calls, 'bar'), renderBar(place, errors, 'bar error')])}</svg>
<p class="chart-legend"><span>${formatDay(days[0]!.dayMs)}</span><span class="swatch">Calls, at most
${formatCount(most)} a day</span><span class="swatch error">Errors among them</span>
<span>${formatDay(days.at(-1)!.dayMs)}</span></p>`;
}

const renderTable = (label: string, rows: readonly (AppUsageCount & { readonly name: string | Markup })[]) =>
  html`<table><thead><tr><th scope="col">${label}</th><th scope="col" class="number">Calls</th>
<th scope="col" class="number">Errors</th>
<th scope="col" class="number">Average</th></tr></thead><tbody>${rows.map(
    it => html`<tr><th scope="row">${it.name}</th><td class="number">${formatCount(it.calls)}</td>
<td class="number">${formatCount(it.errors)}</td>
<td class="number">${formatMs(it.meanMs)}</td></tr>`,
  )}</tbody></table>`;

export const usagePages: readonly SitePage[] = [{ method: 'GET', path: usagePath, access: 'user', respond }];
