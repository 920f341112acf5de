import { useMemo } from 'react';
import { Chart } from '../../kit/chart.tsx';
import { formatNumber } from '../../kit/format.ts';
import { texts } from '../../texts/texts.ts';
import type { LiveUsage } from './use-live-usage.ts';

const own = texts.welcome;
const chartHeight = 140;

/** Requests and errors of each second. */
export function LiveChart({ usage: { state, points, total } }: { usage: LiveUsage }) {
  const times = useMemo(() => points.map(({ time }) => time), [points]);
  const series = useMemo(
    () => [
      { label: own.hits, values: points.map(({ hits }) => hits) },
      { label: own.errors, values: points.map(({ errors }) => errors), tone: 'danger' as const },
    ],
    [points],
  );
  return (
    <section aria-label={own.live} className="flex flex-col gap-2 border-t border-line pt-3">
      <h3 className="font-medium">{own.live}</h3>
      {state === 'ended' && <p className="text-dim">{own.liveEnded}</p>}
      {total === 0 && state !== 'ended' && <p className="text-dim">{own.liveWaiting}</p>}
      {total > 0 && (
        <Chart summary={own.liveSummary(formatNumber(total))} times={times} series={series} height={chartHeight} />
      )}
    </section>
  );
}
