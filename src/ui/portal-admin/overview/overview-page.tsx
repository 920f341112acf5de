import { Link } from '@tanstack/react-router';
import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { Chart } from '../../kit/chart.tsx';
import { formatNumber } from '../../kit/format.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.overview;
const reportedDays = 30;
const newest = { page: 1, per_page: 5, status: 'pending' as const };

interface Figure {
  readonly to: string;
  readonly label: string;
  readonly count: number | undefined;
}

const toText = (count: number | undefined) => (count === undefined ? '…' : formatNumber(count));

const Figures = ({ figures }: { figures: readonly Figure[] }) => (
  <ul className="grid grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] gap-3">
    {figures.map(({ to, label, count }) => (
      <li key={label}>
        <Link
          to={to}
          className="flex h-full flex-col justify-between rounded-card border border-line bg-surface p-4 hover:bg-hover"
        >
          <span className="text-small text-dim">{label}</span>
          <span className="text-display font-semibold">{toText(count)}</span>
        </Link>
      </li>
    ))}
  </ul>
);

const daySeconds = 86_400;
const toSeconds = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

export function OverviewPage() {
  const read = useOperation('GET /portal-api/overview', { query: { days: reportedDays } });
  const overview = read.data?.value;
  const { Waiting, Totals } = overview ?? {};
  if (read.error && !overview)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  return (
    <PageFrame title={own.title}>
      <div className="flex flex-col gap-6">
        <section className="flex flex-col gap-3">
          <h2>{own.waiting}</h2>
          <Figures
            figures={[
              { to: '/admin/access_requests', label: own.requests, count: Waiting?.AccessRequests },
              { to: '/admin/organisation_requests', label: own.organisations, count: Waiting?.OrganisationRequests },
              { to: '/admin/users', label: own.inactive, count: Waiting?.InactiveUsers },
              { to: '/admin/providers', label: own.providersDown, count: Waiting?.ProvidersDown },
              { to: '/admin/emails/outbox', label: own.failedMails, count: Waiting?.FailedMails },
            ]}
          />
        </section>
        {overview && <SiteState site={overview.Site} />}
        {overview && <OverviewCharts days={overview.Days} />}
        <section className="flex flex-col gap-3">
          <h2>{own.offer}</h2>
          <Figures
            figures={[
              { to: '/admin/api_products', label: own.products, count: Totals?.Products },
              { to: '/admin/plans', label: own.plans, count: Totals?.Plans },
              { to: '/admin/apps', label: own.apps, count: Totals?.Apps },
              { to: '/admin/users', label: own.users, count: Totals?.Users },
            ]}
          />
        </section>
        <NewestRequests />
      </div>
    </PageFrame>
  );
}

/** Sign-up and mails of the site, and what follows from them. */
export const SiteState = ({ site }: { site: ResultOf<'GET /portal-api/overview'>['Site'] }) => (
  <Card title={own.site}>
    <FactList
      rows={[
        [own.signUp, <SiteFact key="sign-up" isWell={site.SignUp} text={describeSignUp(site)} />],
        [own.mail, <SiteFact key="mail" isWell={site.Mail} text={site.Mail ? own.mailOn : own.mailOff} />],
      ]}
    />
  </Card>
);

const describeSignUp = ({ Registration, SignUp }: ResultOf<'GET /portal-api/overview'>['Site']): string =>
  Registration === 'off' ? own.signUpOff : SignUp ? own.signUpOn[Registration] : own.signUpWithoutMail;

const SiteFact = ({ isWell, text }: { isWell: boolean; text: string }) => (
  <span className="flex flex-wrap items-baseline gap-2">
    <StatusPill tone={isWell ? 'success' : 'warning'}>{isWell ? own.on : own.off}</StatusPill>
    <span className="min-w-0">{text}</span>
  </span>
);

type OverviewDay = ResultOf<'GET /portal-api/overview'>['Days'][number];

/** Activity by day; the times of the chart are noons, so that every zone shows the same day. */
function OverviewCharts({ days }: { days: readonly OverviewDay[] }) {
  const times = days.map(({ Day }) => toSeconds(Day) + daySeconds / 2);
  const listOf = (name: 'AccessRequests' | 'SignUps' | 'Calls' | 'Errors') => days.map(it => it[name]);
  const total = (name: 'AccessRequests' | 'SignUps' | 'Calls') => listOf(name).reduce((sum, it) => sum + it, 0);
  return (
    <div className="grid grid-cols-1 gap-4 xl:grid-cols-2">
      <Card title={own.demand}>
        <Chart
          summary={own.demandSummary(formatNumber(total('AccessRequests')), formatNumber(total('SignUps')))}
          times={times}
          series={[
            { label: own.requestsMade, values: listOf('AccessRequests') },
            { label: own.signUps, values: listOf('SignUps') },
          ]}
        />
      </Card>
      <Card title={own.calls}>
        <Chart
          summary={own.callsSummary(formatNumber(total('Calls')))}
          times={times}
          series={[
            { label: own.calls, values: listOf('Calls') },
            { label: own.errors, values: listOf('Errors'), tone: 'danger' },
          ]}
        />
      </Card>
    </div>
  );
}

function NewestRequests() {
  const requests = useOperation('GET /portal-api/access_requests', { query: newest }).data?.value;
  return (
    <Card title={own.newest}>
      {requests?.length === 0 && <p className="text-dim">{own.nothing}</p>}
      <ul className="flex flex-col gap-2">
        {requests?.map(({ ID, Client, Products, Plan, CreatedAt }) => (
          <li key={ID} className="flex flex-wrap gap-x-3">
            <Link to="/admin/access_requests/$requestId" params={{ requestId: String(ID) }} className="row-link">
              {adminTexts.requests.nameOf(ID, Client)}
            </Link>
            <span className="text-dim">
              {adminTexts.apps.accessOf(Products.split(',').join(', '), Plan)}, {CreatedAt}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
