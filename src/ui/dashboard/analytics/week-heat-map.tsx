import { useMemo } from 'react';
import { Card } from '../../kit/card.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { usageViewTexts as own } from '../../texts/en/usage-views.ts';
import { toUsageQuery, type UsageScope } from './usage-filters.ts';
import { hoursPerDay, sumWeekHours } from './week-hours.ts';

/** Four weeks: each hour of the week has the same number of days. */
const maxSeconds = 28 * 86_400;
/** Text on the strongest colour is readable in both themes. */
const maxColourPercent = 45;
const hours = Array.from({ length: hoursPerDay }, (_, hour) => hour);
/** A region that scrolls can be focused, so that the keyboard scrolls it (WCAG 2.1.1). */
const scrollable = { tabIndex: 0 } as const;

/** Requests by weekday and hour: numbers, and colours by their share of the highest one. */
export function WeekHeatMap({ scope }: { scope: UsageScope }) {
  const start = Math.max(scope.start, scope.end - maxSeconds);
  const query = toUsageQuery({ ...scope, start }, { res: 'hour', p: -1 });
  const read = useOperation('GET /api/usage', { query }, { keepPrevious: true });
  const items = read.isError ? undefined : read.data?.value.data;
  const sums = useMemo(() => sumWeekHours(items ?? []), [items]);
  if (!items) return <QueryState query={read} />;
  const highest = Math.max(...sums.flat());
  return (
    <Card title={own.weekHours}>
      <p className="text-small text-dim">{own.weekHoursAbout}</p>
      <section aria-label={own.weekHours} {...scrollable} className="overflow-auto">
        <table className="w-full tabular-nums">
          <thead>
            <tr className="text-small text-dim">
              <th scope="col" className="px-1 text-left">
                {own.weekday}
              </th>
              {hours.map(hour => (
                <th key={hour} scope="col" className="px-1 text-right">
                  {hour}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sums.map((row, weekday) => (
              <tr key={own.weekdays[weekday]}>
                <th scope="row" className="px-1 text-left text-small font-medium">
                  {own.weekdays[weekday]}
                </th>
                {row.map((hits, hour) => (
                  <Cell key={hours[hour]} hits={hits} highest={highest} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Card>
  );
}

function Cell({ hits, highest }: { hits: number; highest: number }) {
  const percent = highest === 0 ? 0 : Math.round((hits / highest) * maxColourPercent);
  const backgroundColor = `color-mix(in oklab, var(--accent) ${percent}%, transparent)`;
  return (
    <td className="px-1 text-right text-small text-ink" style={{ backgroundColor }}>
      {formatNumber(hits)}
    </td>
  );
}
